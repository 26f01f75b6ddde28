/*
 * The C ABI of the Solon policy engine. `include/solon.h` is made from `ffi/src`, and these lines open it.
 *
 * Rules
 *
 * Handles. Every type is opaque, but for the two views of bytes. What `_new` or an output gives belongs to the
 * caller, who hands it to `_free` once; `_free` accepts NULL.
 *
 * Threads. What is reached through `const T *` may be used by several threads at once. What is taken as `T *`
 * may not be in use elsewhere.
 *
 * Arguments. Inputs come first, outputs last. A NULL output, or a NULL input where that is not said to mean
 * something, is `SOLON_ERROR_ARGUMENT`.
 *
 * Text is UTF-8, a pointer and a length in bytes; it need not end in NUL, and NULL with length 0 is the empty
 * text. Text that comes back is not ended by NUL either.
 *
 * Errors. A function that can fail answers NULL, or an error that the caller frees. Outputs are untouched then,
 * and nothing has changed in the engine. Codes keep their numbers for ever; new ones are added at the end, so
 * treat an unknown one like `SOLON_ERROR_INTERNAL`.
 *
 * Panics of Rust never cross into C: every function runs inside one guard, which makes `SOLON_ERROR_INTERNAL` of
 * them.
 *
 * Files. One file for each kind of handle; `tests/ffi/c` has a program of the same name.
 */

#ifndef SOLON_H
#define SOLON_H

#include <stddef.h>
#include <stdint.h>

/**
 * Version of this header: rises when programs must change.
 */
#define SOLON_VERSION_MAJOR 0

/**
 * Version of this header: rises when functions are added.
 */
#define SOLON_VERSION_MINOR 1

/**
 * Version of this header: rises with each correction.
 */
#define SOLON_VERSION_PATCH 0

/**
 * What kind of error. Numbers never change; new ones come at the end.
 */
typedef enum {
    /**
     * No error: the code of NULL.
     */
    SOLON_OK = 0,
    /**
     * A fault of the engine itself. Please report it.
     */
    SOLON_ERROR_INTERNAL = 1,
    /**
     * An argument against the rules of this header: a NULL, or text that is not UTF-8.
     */
    SOLON_ERROR_ARGUMENT = 2,
    /**
     * A module does not parse, or the modules together do not compile.
     */
    SOLON_ERROR_COMPILE = 3,
    /**
     * An evaluation ended early.
     */
    SOLON_ERROR_EVAL = 4,
    /**
     * A base document cannot stand where it was to be written.
     */
    SOLON_ERROR_STORE = 5,
    /**
     * An input, or data, is not JSON.
     */
    SOLON_ERROR_INPUT = 6,
    /**
     * A value does not fit the form it was asked in.
     */
    SOLON_ERROR_OUTPUT = 7,
    /**
     * There is no module of that name.
     */
    SOLON_ERROR_UNKNOWN_MODULE = 8,
    /**
     * An option that means nothing.
     */
    SOLON_ERROR_OPTIONS = 9,
    /**
     * There is neither a rule nor a document at that path.
     */
    SOLON_ERROR_UNKNOWN_PATH = 10,
} solon_code;

/**
 * Changes that are collected, and applied as one by `solon_engine_apply`. One thread at a time uses it.
 */
typedef struct solon_change solon_change;

/**
 * A prepared document. Several threads may ask it at once; it follows its engine, which it keeps alive.
 */
typedef struct solon_document solon_document;

/**
 * A policy engine. Several threads may change it and ask it at once: a decision sees the modules and the data of
 * one moment, and never waits.
 */
typedef struct solon_engine solon_engine;

/**
 * An error.
 */
typedef struct solon_error solon_error;

/**
 * Bytes that the caller owns and hands to `solon_bytes_free`. `data` is NULL when there is nothing, which is not
 * the same as an empty text.
 */
typedef struct {
    /**
     * First byte.
     */
    char *data;
    /**
     * How many.
     */
    size_t length;
} solon_bytes;

/**
 * Text that belongs to the object it was asked from, and lives as long as that.
 */
typedef struct {
    /**
     * First byte; never NULL.
     */
    const char *data;
    /**
     * How many.
     */
    size_t length;
} solon_text;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Frees bytes that a function gave; nothing happens when `data` is NULL.
 */
void solon_bytes_free(solon_bytes bytes);

/**
 * Makes a change that changes nothing yet.
 */
solon_error *solon_change_new(solon_change **out);

/**
 * Frees a change, applied or not; nothing happens for NULL.
 */
void solon_change_free(solon_change *change);

/**
 * Adds a module, or replaces the one of that name. `rego` is the version of its language, 0 or 1; -1 is that of the engine.
 */
solon_error *solon_change_set_module(solon_change *change,
                                     const char *name,
                                     size_t name_length,
                                     const char *text,
                                     size_t text_length,
                                     int rego);

/**
 * Removes a module.
 */
solon_error *solon_change_remove_module(solon_change *change, const char *name, size_t name_length);

/**
 * Writes a document, JSON text, at a path with slashes below `data`; the objects around it are made.
 */
solon_error *solon_change_put_json(solon_change *change,
                                   const char *path,
                                   size_t path_length,
                                   const char *json,
                                   size_t json_length);

/**
 * Removes a document.
 */
solon_error *solon_change_delete(solon_change *change, const char *path, size_t path_length);

/**
 * Applies a change: all of it happens, and every decision sees all of it or nothing, or there is an error and nothing
 * happens. The change is empty then, either way.
 */
solon_error *solon_engine_apply(const solon_engine *engine,
                                solon_change *change);

/**
 * Prepares the document at a path below `data`, like `authz/allow`.
 */
solon_error *solon_engine_prepare(const solon_engine *engine,
                                  const char *path,
                                  size_t path_length,
                                  solon_document **out);

/**
 * Frees a document that no thread uses any more; nothing happens for NULL.
 */
void solon_document_free(solon_document *document);

/**
 * Evaluates the document and gives it as JSON.
 *
 * The input is JSON; NULL leaves `input` undefined. When the document is undefined, `out->data` is NULL.
 */
solon_error *solon_document_evaluate_json(const solon_document *document,
                                          const char *input_json,
                                          size_t input_json_length,
                                          solon_bytes *out);

/**
 * Whether the document is `true`: 1 if it is, 0 if it is anything else or undefined, -1 where there is no answer
 * (a NULL document, an input that is not JSON, an evaluation that ended early). Whoever wants to know why asks
 * `solon_document_evaluate_json`.
 */
int solon_document_allow(const solon_document *document,
                         const char *input_json,
                         size_t input_json_length);

/**
 * Gives back the memory that evaluations left to later ones: that of the pool and that of the calling thread.
 */
void solon_release_memory(void);

/**
 * Makes an engine without modules and data. Policies that ask for the time get the system's.
 */
solon_error *solon_engine_new(solon_engine **out);

/**
 * Frees an engine that no thread uses any more; nothing happens for NULL.
 */
void solon_engine_free(solon_engine *engine);

/**
 * Adds a module, or replaces the one of that name, and compiles it together with the others.
 */
solon_error *solon_engine_set_module(const solon_engine *engine,
                                     const char *name,
                                     size_t name_length,
                                     const char *text,
                                     size_t text_length);

/**
 * Removes a module.
 */
solon_error *solon_engine_remove_module(const solon_engine *engine, const char *name, size_t name_length);

/**
 * Replaces all data by a JSON object.
 */
solon_error *solon_engine_set_data_json(const solon_engine *engine, const char *json, size_t json_length);

/**
 * Evaluates the document at a path below `data`, like `authz/allow`, and gives it as JSON.
 *
 * The input is JSON; NULL leaves `input` undefined. When the document is undefined, `out->data` is NULL.
 */
solon_error *solon_engine_evaluate_json(const solon_engine *engine,
                                        const char *path,
                                        size_t path_length,
                                        const char *input_json,
                                        size_t input_json_length,
                                        solon_bytes *out);

/**
 * The code; `SOLON_OK` for NULL.
 */
solon_code solon_error_code(const solon_error *error);

/**
 * The message, one line for each thing that is wrong; empty for NULL. It lives as long as the error.
 */
solon_text solon_error_message(const solon_error *error);

/**
 * All of it as JSON: `{"kind", "message", "errors": [{"code", "message", "location": {"file", "row", "col"},
 * "details"}]}`; empty for NULL. It lives as long as the error.
 */
solon_text solon_error_json(const solon_error *error);

/**
 * Frees an error; nothing happens for NULL.
 */
void solon_error_free(solon_error *error);

/**
 * Version of the library in use, like `1.2.3`, ended by NUL; it lives for ever.
 */
const char *solon_version(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* SOLON_H */
