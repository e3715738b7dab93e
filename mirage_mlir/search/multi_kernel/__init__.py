"""Plans of several kernels: where a program is cut, and what each kernel stores."""
