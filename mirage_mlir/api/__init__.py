"""
The Python front end: build a tensor program operator by operator, superoptimize it, call it.

    import mirage_mlir as mi

    graph = mi.new_kernel_graph()
    x = graph.new_input(dims=(16, 4096), dtype=mi.float16)
    w = graph.new_input(dims=(4096, 6144), dtype=mi.float16, constant=True)
    graph.mark_output(graph.matmul(graph.rms_norm(x, normalized_shape=(4096,)), w))
    kernel = graph.superoptimize()
    z = kernel(x_tensor, w_tensor)

A graph is a function in the kernel dialect whose operations know the line that made them.
"""
