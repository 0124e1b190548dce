/* libquaver-compiler.so: the entry points that the `quaver` driver and the Python package load when something
 * is compiled.
 *
 * Every function is thread-safe as long as two calls do not write the same output file. Strings that come out
 * through `char **` are owned by the caller and freed by qvc_free. Options are one JSON object, so that this
 * border need not change when an option is added; an unknown key is an error that names it.
 */
#ifndef QUAVER_COMPILER_H
#define QUAVER_COMPILER_H
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define QVC_EXPORT __attribute__((visibility("default")))
#else
#define QVC_EXPORT
#endif

/* Result codes, also the command line's exit codes. */
enum {
  QVC_OK = 0,
  QVC_ERROR = 1,    /* the model, the policy or a file is at fault: the message says what and what to do */
  QVC_USAGE = 2,    /* the options are at fault */
  QVC_INTERNAL = 3, /* our fault */
};

/* Called with a line of progress ("compiling kernels", done, total); may be NULL. */
typedef void (*qvc_progress)(void *user, const char *stage, int done, int total);

/* Compiles a model into an artifact.
 *
 * options: {
 *   "model": "path.onnx"           absent when `model` bytes are given,
 *   "folder": "path"               where external data of `model` bytes lies,
 *   "weights": "path"              a folder of safetensors files, or one: initializers are bound to it by
 * name, "output": "path.quaver", "targets": ["host"]            those of qvc_about, or host, "precision":
 * "source"          source, one of qvc_about's presets, or a policy file, "dims": {"seq": [1, 4096]} ranges
 * of dimension symbols, "strict": false                an operation not computed as decided is an error,
 *   "emit_stages": "folder"        the module after every stage, as text,
 *   "report": "path.json"          or path.html,
 *   "weight_storage": "embed"      the only one
 * }
 * model, bytes: a serialized ONNX model, or NULL and 0.
 * message: receives the error text (also warnings on success), or NULL.
 * Nothing is written unless QVC_OK is returned. */
QVC_EXPORT int qvc_compile(const char *options, const void *model, size_t bytes, qvc_progress progress,
                           void *user, char **message);

/* Runs a model in the interpreter, as its file says and with options.precision, and reports every node's own
 * and inherited error.
 *
 * options: those of qvc_compile without "output", and
 *   "inputs": ["name=@file.npy", "name=1x128xi64=rand(0,32000)"], "seed": 0,
 *   "effects": 64                  nodes whose effect on the outputs is measured,
 *   "bisect": "sqnr=30dB"          or "max=1e-2": the report says which op exceeds it first,
 *   "csv": "path", "html": "path"  files to write the report to, too
 * report: receives JSON (compiler/Compare/CompareReport.h says what), worst op first; NULL on failure.
 * message: receives the error text, or NULL. */
QVC_EXPORT int qvc_compare(const char *options, qvc_progress progress, void *user, char **report,
                           char **message);

/* Versions and abilities as one JSON object: {"version", "llvm", "host", "targets": [...], "precisions":
 * [...]}. */
QVC_EXPORT char *qvc_about(void);

QVC_EXPORT void qvc_free(char *text);

#ifdef __cplusplus
}
#endif
#endif
