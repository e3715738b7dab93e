"""`torch.compile(model, backend="mirage")`: kernels for the parts of a model where they pay."""
