"""
An artifact as a header and a source of C99, which C++ compiles, too.

The source holds the cubins, tables of their launches, and what launches them: `driver.c` and
`launch.c` of this folder, which do what `mirage_mlir.runtime.launch` does.
"""

from functools import cache
from importlib.resources import files

from mirage_mlir.c_source.names import comment, parameters
from mirage_mlir.c_source.tables import array, braces, code, most_arguments
from mirage_mlir.names import file_stem, identifier
from mirage_mlir.runtime.artifact import Artifact, TensorSpec

STATUSES = {
    "NO_DRIVER": "no libcuda.so.1",
    "OLD_DRIVER": "a driver older than CUDA 13.0",
    "NO_CONTEXT": "the calling thread has no current CUDA context",
    "NO_CODE": "no code for the current device",
    "NO_SHARED_MEMORY": "a block has too little shared memory on the current device",
    "NULL_TENSOR": "a tensor is a null pointer",
    "NULL_SCRATCH": "scratch memory is needed and is a null pointer",
    "MISALIGNED": "a pointer is no multiple of 16 bytes",
    "OVERLAP": "an output shares memory with another tensor or the scratch memory",
    "CAPTURED": "constants would be packed while a CUDA graph is being captured",
    "NO_MEMORY": "not enough host memory",
}
"""What functions return besides 0 and the driver's own errors, from -1 down."""


def c_files(artifact: Artifact) -> dict[str, str]:
    """
    The text of the header and of the source, by the names of the files.

    Raises:
        ValueError: the artifact has something that the C code has no room for.
    """
    stem = file_stem(artifact.name)
    return {f"{stem}.h": header(artifact), f"{stem}.c": source(artifact)}


def header(artifact: Artifact) -> str:
    """The functions of a program, and what they take."""
    name = identifier(artifact.name)
    values = [f"  MIRAGE_{each} = -{at}," for at, each in enumerate(STATUSES, 1)]
    notes = [f" /* {text} */" for text in STATUSES.values()]
    guard = f"MIRAGE_PROGRAM_{name}_H"
    lines = [
        f"/* {comment(artifact.name)}, compiled by {comment(artifact.producer)}. */",
        *(f"#ifndef {guard}", f"#define {guard}", "", "#include <stddef.h>", ""),
        *("#ifdef __cplusplus", 'extern "C" {', "#endif", ""),
        *("#ifndef MIRAGE_STATUS", "#define MIRAGE_STATUS"),
        "/* What functions return: 0, one of these, or a CUresult, which is positive. */",
        *("enum mirage_status {", "  MIRAGE_OK = 0,"),
        *(value + note for value, note in zip(values, notes, strict=True)),
        *("  MIRAGE_STATUSES_END = -1000", "};", "#endif", ""),
        "/* CUstream and cudaStream_t are pointers to this. */",
        *("struct CUstream_st;", ""),
        *_documented(artifact),
        f"int {_signature(artifact)};",
        "",
        "/* Bytes of scratch memory that a call needs on the device that needs most; may be 0. */",
        *(f"size_t mirage_scratch_bytes_{name}(void);", ""),
        "/* Load the code into the current context, as the first call does otherwise. */",
        *(f"int mirage_load_{name}(void);", ""),
        "/*",
        " * Give back what was loaded and packed in the current context; the next call loads anew.",
        " * No call may be running, and no CUDA graph of one may be replayed afterwards.",
        " */",
        *(f"int mirage_release_{name}(void);", ""),
        "/* The text for what a function returned. */",
        *(f"const char *mirage_error_{name}(int status);", ""),
        *("#ifdef __cplusplus", "}", "#endif", "", "#endif"),
    ]
    return "\n".join(lines) + "\n"


def _documented(artifact: Artifact) -> list[str]:
    targets = ", ".join(each.target for each in artifact.targets)
    unverified = ", ".join(artifact.unverified)
    lines = [
        f"Queue {comment(artifact.name)} on a stream; code for {targets}.",
        "",
        "All pointers are addresses on the device of the current context, multiples of 16 bytes.",
        "A call allocates nothing and waits for nothing, once its constants are known, so that it",
        "can be captured into a CUDA graph; threads may call at once, on streams of their own with",
        "scratch memory of their own.",
        "",
        *(f"{name}: {_described(spec)}" for name, spec in _tensors(artifact)),
        "scratch: mirage_scratch_bytes_...() bytes that are not set; no other call may use them.",
    ]
    if unverified:
        lines += ["", f"NOT VERIFIED for {comment(unverified)}."]
    return ["/*", *(f" * {line}".rstrip() for line in lines), " */"]


def _described(spec: TensorSpec) -> str:
    text = f"{'x'.join(map(str, spec.shape)) or 'a scalar,'} {spec.element_type.value}"
    text += "" if spec.dense else f", strides {'x'.join(map(str, spec.strides))}"
    return text + (", never changes after the first call with it" if spec.constant else "")


def _tensors(artifact: Artifact) -> list[tuple[str, TensorSpec]]:
    names = parameters("in", [spec.name for spec in artifact.inputs])
    names += [f"out_{number}" for number in range(len(artifact.outputs))]
    return list(zip(names, (*artifact.inputs, *artifact.outputs), strict=True))


def _signature(artifact: Artifact) -> str:
    names = [name for name, _ in _tensors(artifact)]
    count = len(artifact.inputs)
    takes = [f"const void *{name}" for name in names[:count]]
    takes += [f"void *{name}" for name in names[count:]]
    takes += ["void *scratch", "struct CUstream_st *stream"]
    return f"mirage_run_{identifier(artifact.name)}({', '.join(takes)})"


def source(artifact: Artifact) -> str:
    """The source, which includes the header by the name that `c_files` gives it."""
    most_packed = max([1, *(len(each.packed) for each in artifact.targets)])
    lines = [
        f"/* {comment(artifact.name)}, compiled by {comment(artifact.producer)}. */",
        *("", f'#include "{file_stem(artifact.name)}.h"', "", _support("driver.c")),
        f"enum {{ MIRAGE_MOST_ARGUMENTS = {most_arguments(artifact.targets)} }};",
        f"enum {{ MIRAGE_MOST_PACKED = {most_packed} }};",
        *("", _support("launch.c")),
        *_tables(artifact),
        "",
        *_functions(artifact),
    ]
    return "\n".join(lines) + "\n"


@cache
def _support(name: str) -> str:
    return files("mirage_mlir.c_source").joinpath(name).read_text(encoding="utf-8")


def _tables(artifact: Artifact) -> list[str]:
    lines: list[str] = []
    codes: list[str] = []
    for number, each in enumerate(artifact.targets):
        arrays, entry = code(number, each)
        lines += arrays
        codes.append(entry)
    specs = (*artifact.inputs, *artifact.outputs)
    constants = [f"{i}u" for i, spec in enumerate(artifact.inputs) if spec.constant]
    lines += array("mirage_code", "mirage_codes", codes)
    lines += array("size_t", "mirage_bytes", [f"{spec.storage_bytes}u" for spec in specs])
    lines += array("unsigned int", "mirage_constants", constants)
    counts = (artifact.inputs, artifact.outputs, constants, artifact.targets)
    table = [f"{len(each)}u" for each in counts]
    table += ["mirage_bytes", "mirage_constants" if constants else "NULL", "mirage_codes"]
    lines += [f"static const mirage_program mirage_this = {braces(table)};"]
    return lines


def _functions(artifact: Artifact) -> list[str]:
    name = identifier(artifact.name)
    scratch = f"mirage_scratch_bytes_{name}()"
    addresses = [f"(uint64_t)(uintptr_t){name}" for name, _ in _tensors(artifact)]
    most = max(each.scratch_bytes for each in artifact.targets)
    return [
        *("static mirage_loaded *mirage_list;", ""),
        f"int {_signature(artifact)} {{",
        f"  const uint64_t tensors[] = {braces(addresses)};",
        f"  return mirage_run(&mirage_this, &mirage_list, tensors, scratch, {scratch}, stream);",
        *("}", ""),
        *(f"size_t mirage_scratch_bytes_{name}(void) {{ return {most}u; }}", ""),
        f"int mirage_load_{name}(void) {{ return mirage_load_now(&mirage_this, &mirage_list); }}",
        "",
        *(f"int mirage_release_{name}(void) {{ return mirage_release(&mirage_list); }}", ""),
        f"const char *mirage_error_{name}(int status) {{ return mirage_error(status); }}",
    ]
