"""What `mirage-opt` is made of: command line, pipelines, diagnostics, output."""
