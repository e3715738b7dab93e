// What cannot be is said before anything is searched, with exit code 2.
// RUN: sh -c 'mirage-opt --profile --workers=0 --superoptimize %s; test $? = 2' 2>&1 | filecheck %s --check-prefix=COUNT
// COUNT: mirage-opt: error: --workers: workers are a number from 1 to 256, ray, or ray://HOST:PORT, not '0'
// RUN: sh -c 'mirage-opt --profile --workers=ray://host --superoptimize %s; test $? = 2' 2>&1 | filecheck %s --check-prefix=ADDRESS
// ADDRESS: mirage-opt: error: --workers: workers are a number from 1 to 256, ray, or ray://HOST:PORT, not 'ray://host'
// RUN: sh -c 'mirage-opt --workers=2 --superoptimize %s; test $? = 2' 2>&1 | filecheck %s --check-prefix=PROFILE
// PROFILE: mirage-opt: error: --workers is for --profile

// A module that cannot be imported stands for one that is not installed.
// RUN: rm -rf %t && mkdir %t && echo 'raise ImportError("it is missing")' > %t/ray.py
// RUN: sh -c 'PYTHONPATH=%t python -m mirage_mlir.opt_main --profile --workers=ray --superoptimize %s; test $? = 2' 2>&1 | filecheck %s --check-prefix=RAY
// RAY: mirage-opt: error: --workers: a Ray cluster needs Ray: pip install 'mirage_mlir[ray]' (it is missing)

// RUN: sh -c 'MIRAGE_CACHE=localhost mirage-opt --profile --superoptimize %s; test $? = 2' 2>&1 | filecheck %s --check-prefix=CACHE
// CACHE: mirage-opt: error: MIRAGE_CACHE=localhost is no address of a server; one is redis://HOST:PORT, and a folder is what MIRAGE_CACHE_DIR names

func.func @f(%x: tensor<4x64xf16>) -> tensor<4x64xf16> {
  %y = kernel.silu %x : (tensor<4x64xf16>) -> tensor<4x64xf16>
  func.return %y : tensor<4x64xf16>
}
