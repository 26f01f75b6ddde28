/*
 * The C ABI of the Solon policy engine. `include/solon.h` is made from `ffi/src`, and these lines open it.
 *
 * Rules
 *
 * Handles. Every type is opaque, but for views of bytes, options and requests. What `_new` or an output gives
 * belongs to the caller, who hands it to `_free` once; `_free` accepts NULL. Handles may be freed in any order.
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
 * Errors. A function that can fail returns NULL, or an error that the caller frees. Outputs are untouched then,
 * and nothing has changed in the engine. Compilers warn where the error is dropped (`SOLON_MUST_USE`). Codes keep their
 * numbers for ever; new ones are added at the end, so treat an unknown one like `SOLON_ERROR_INTERNAL`.
 *
 * Decisions are the exception to untouched outputs: a `bool *allowed` is `false` before the function looks at any
 * other argument, and on every error. It is `true` only after a decision that is exactly `true`.
 *
 * Constants (`SOLON_ERROR_…`, `SOLON_KIND_…`, `SOLON_REGO_…` and the like) have types of 32 bits, whatever compiles the
 * program.
 *
 * Panics of Rust never cross into C: every function runs inside one guard, which makes `SOLON_ERROR_INTERNAL` of
 * them.
 *
 * Callbacks run on the evaluating thread, several at once, and may call the library, even the very handle that
 * runs them. They must return: no `longjmp` and no exception may leave them.
 *
 * Structures of options and requests begin with their size: `solon_request request = {.size = sizeof request};`.
 * What is zero is as usual. A newer library takes the structure of an older header.
 *
 * Files. One file for each kind of handle; `tests/ffi/c` has programs that use each.
 */

#ifndef SOLON_H
#define SOLON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * Marks functions whose error must be checked and freed: compilers warn where the result is dropped.
 */
#if !defined(SOLON_MUST_USE)
#if defined(__cplusplus) && (__cplusplus >= 201703L || (defined(_MSVC_LANG) && _MSVC_LANG >= 201703L))
#define SOLON_MUST_USE [[nodiscard]]
#elif !defined(__cplusplus) && defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L
#define SOLON_MUST_USE [[nodiscard]]
#elif defined(__GNUC__)
#define SOLON_MUST_USE __attribute__((warn_unused_result))
#elif defined(_MSC_VER)
#include <sal.h>
#define SOLON_MUST_USE _Check_return_
#else
#define SOLON_MUST_USE
#endif
#endif

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
 * Number of the interface between programs and the library: rises when a program that was linked before would break.
 */
#define SOLON_ABI 1

/**
 * A bundle as it was read. Several threads may use it at once.
 */
typedef struct solon_bundle solon_bundle;

/**
 * A call of a function. It lives as long as the call, on the thread of the call.
 */
typedef struct solon_call solon_call;

/**
 * What stops the evaluations whose requests name it. Several threads may use it at once.
 */
typedef struct solon_cancel solon_cancel;

/**
 * Changes that are collected, and applied as one by `solon_engine_apply`. One thread at a time uses it.
 */
typedef struct solon_change solon_change;

/**
 * Which lines of the modules evaluations came by, over all whose requests name it. One thread at a time uses it.
 */
typedef struct solon_coverage solon_coverage;

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
 * An error. Several threads may read it at once.
 */
typedef struct solon_error solon_error;

/**
 * An answer and how it was found. Several threads may read it at once.
 */
typedef struct solon_explanation solon_explanation;

/**
 * A rule that is prepared to become a filter of rows. Several threads may ask it at once; it follows its engine as queries
 * do.
 */
typedef struct solon_filter solon_filter;

/**
 * A filter for each target. Several threads may read it at once.
 */
typedef struct solon_filtered solon_filtered;

/**
 * A function that policies may call. Engines keep what they need of it, so it may be freed when they are made.
 */
typedef struct solon_function solon_function;

/**
 * Fields that functions of the host add to the response of a decision. One thread at a time uses it.
 */
typedef struct solon_metadata solon_metadata;

/**
 * Times and counts by the names that OPA publishes them under. What is measured again is added. One thread at a time
 * uses it.
 */
typedef struct solon_metrics solon_metrics;

/**
 * The modules and the data of an engine as they were when it was taken. Several threads may use it at once. A request
 * that names it asks it instead of what is current.
 */
typedef struct solon_moment solon_moment;

/**
 * What functions that are not deterministic (`time.now_ns`, `rand.intn`, `http.send` …) answered in a decision, so that it
 * can be understood, or repeated. One thread at a time uses it.
 */
typedef struct solon_nd_cache solon_nd_cache;

/**
 * The pairs of an object, one after the other. One thread at a time uses it.
 */
typedef struct solon_pairs solon_pairs;

/**
 * A prepared query that is asked while something is unknown. Several threads may ask it at once; it follows its engine as
 * queries do.
 */
typedef struct solon_partial solon_partial;

/**
 * How long the rows of the modules took, over all evaluations whose requests name it. One thread at a time uses it.
 */
typedef struct solon_profile solon_profile;

/**
 * A prepared query. Several threads may ask it at once; it follows its engine, which it keeps alive: where modules change
 * it is compiled anew on its next use, which fails with `SOLON_ERROR_COMPILE` where it does not compile any more.
 */
typedef struct solon_query solon_query;

/**
 * What a query still depends on: bodies, one of which must hold, and the modules that they refer to. Several threads may
 * read it at once.
 */
typedef struct solon_residuals solon_residuals;

/**
 * The solutions of a query. Several threads may read them at once; the values in them live as long as they do.
 */
typedef struct solon_solutions solon_solutions;

/**
 * A value. It never changes, so several threads may read it at once.
 *
 * What `solon_value_item`, `solon_value_get` and the like answer belongs to the value around it and lives as long as
 * that; it is not freed. `solon_value_clone` makes a value of its own of it.
 */
typedef struct solon_value solon_value;

/**
 * A view of text. What the library gives belongs to the object it was asked from, and lives as long as that.
 */
typedef struct {
    /**
     * First byte; never NULL where the library gives it.
     */
    const char *data;
    /**
     * How many.
     */
    size_t length;
} solon_text;

/**
 * A key that verifies bundles.
 */
typedef struct {
    /**
     * Its id, by which signatures name it.
     */
    solon_text id;
    /**
     * The only algorithm that signatures may have, such as `RS256`.
     */
    solon_text algorithm;
    /**
     * A secret, or a public key or certificate in PEM.
     */
    solon_text key;
    /**
     * The scope that signatures must have unless the options set one; empty for none.
     */
    solon_text scope;
} solon_verification_key;

/**
 * How a bundle is read. What is zero is as usual: unsigned bundles are accepted, signed ones rejected.
 * `solon_bundle_options options = {.size = sizeof options};`
 */
typedef struct {
    /**
     * `sizeof(solon_bundle_options)`
     */
    size_t size;
    /**
     * Keys that verify. If there are some, a bundle must be signed by one of them.
     */
    const solon_verification_key *keys;
    /**
     * How many keys.
     */
    size_t key_count;
    /**
     * The id of the only key that may have signed; NULL leaves that to the signature.
     */
    const char *key_id;
    /**
     * How many bytes.
     */
    size_t key_id_length;
    /**
     * The scope that a signature must have; NULL is that of the key.
     */
    const char *scope;
    /**
     * How many bytes.
     */
    size_t scope_length;
    /**
     * Glob patterns of files that need not be signed, a JSON array of strings; NULL is none.
     */
    const char *exclude_json;
    /**
     * How many bytes.
     */
    size_t exclude_json_length;
    /**
     * Accept unsigned bundles although there are keys. Anyone who can change a bundle can remove its signature then.
     */
    int accept_unsigned;
    /**
     * Accept delta bundles, which cannot be signed, although there are keys.
     */
    int accept_unsigned_deltas;
    /**
     * Accept all bundles without verifying signatures. `keys` must be empty.
     */
    int skip_verification;
} solon_bundle_options;

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
 * A version of Rego: one of `SOLON_REGO_…`.
 */
typedef int32_t solon_rego;

/**
 * Hears a line that a policy prints. It is called on the evaluating thread, mostly when the evaluation ends, and may
 * call the library itself.
 */
typedef void (*solon_print)(void *userdata, const char *line, size_t length);

/**
 * What one evaluation is given. What is zero is as usual: `solon_request request = {.size = sizeof request};`
 *
 * Everything stays the caller's, and is not freed before the evaluation has ended.
 */
typedef struct {
    /**
     * `sizeof(solon_request)`
     */
    size_t size;
    /**
     * The input as JSON text. With neither this nor a value, `input` is undefined.
     */
    const char *input_json;
    /**
     * How many bytes.
     */
    size_t input_json_length;
    /**
     * The input as a value.
     */
    const solon_value *input;
    /**
     * The moment that is asked; NULL is the current one.
     */
    const solon_moment *moment;
    /**
     * What stops it from another thread.
     */
    const solon_cancel *cancel;
    /**
     * Nanoseconds that it may take; 0 is the engine's bound, `UINT64_MAX` is none.
     */
    uint64_t time_limit_ns;
    /**
     * Loop turns and calls that it may take, likewise.
     */
    uint64_t step_limit;
    /**
     * Bytes of memory that it may take, likewise.
     */
    uint64_t memory_limit;
    /**
     * Bytes of memory that an explanation may take, likewise.
     */
    uint64_t explanation_limit;
    /**
     * Whether the first error of a built-in function ends it.
     */
    int strict_builtin_errors;
    /**
     * Who hears what policies print.
     */
    solon_print print;
    /**
     * Its first argument.
     */
    void *print_userdata;
    /**
     * Where answers of functions that are not deterministic are noted, and looked up first.
     */
    solon_nd_cache *nd_cache;
    /**
     * What functions of the host may read about the request: an object.
     */
    const solon_value *metadata;
    /**
     * Where functions of the host tell something beside the answer.
     */
    solon_metadata *response_metadata;
    /**
     * Where times and counts are added.
     */
    solon_metrics *metrics;
    /**
     * Where is noted what it came by. It takes longer then.
     */
    solon_coverage *coverage;
    /**
     * Where the times of rows are added. It takes longer then.
     */
    solon_profile *profile;
} solon_request;

/**
 * The steps that an explanation has: one of `SOLON_DETAIL_…`.
 */
typedef int32_t solon_detail;

/**
 * What policies may access: one of `SOLON_HOST_…`.
 */
typedef int32_t solon_host;

/**
 * How an engine is made. What is zero is as usual: `solon_options options = {.size = sizeof options};`
 */
typedef struct {
    /**
     * `sizeof(solon_options)`
     */
    size_t size;
    /**
     * The Rego of modules that do not say: one of `SOLON_REGO_…`.
     */
    solon_rego rego;
    /**
     * Whether the compiler makes the checks of strict mode.
     */
    int strict;
    /**
     * Whether base documents may stand in the place of rules.
     */
    int allow_base_conflicts;
    /**
     * What policies may ask of the world: one of `SOLON_HOST_…`.
     */
    solon_host host;
    /**
     * What the clock of `SOLON_HOST_FIXED` shows, in nanoseconds since 1970.
     */
    int64_t now_ns;
    /**
     * What policies may use, in the JSON form of OPA's capabilities; NULL is everything there is.
     */
    const char *capabilities_json;
    /**
     * How many bytes.
     */
    size_t capabilities_json_length;
    /**
     * The hosts that policies may reach, a JSON array of names; NULL leaves that to the capabilities.
     */
    const char *allow_net_json;
    /**
     * How many bytes.
     */
    size_t allow_net_json_length;
    /**
     * Nanoseconds that an evaluation may take; 0 is no bound.
     */
    uint64_t time_limit_ns;
    /**
     * Loop turns and calls that an evaluation may take; 0 is no bound.
     */
    uint64_t step_limit;
    /**
     * Bytes of memory that an evaluation may take; 0 is 1 GiB, `UINT64_MAX` is no bound.
     */
    uint64_t memory_limit;
    /**
     * Bytes of memory that an explanation may take; 0 is 256 MiB, `UINT64_MAX` is no bound.
     */
    uint64_t explanation_limit;
    /**
     * Bytes of answers of `http.send` that are kept for later evaluations; 0 is 64 MiB.
     */
    uint64_t response_cache;
    /**
     * Functions that policies may call like built-ins. They stay the caller's.
     */
    const solon_function *const *functions;
    /**
     * How many functions.
     */
    size_t function_count;
    /**
     * A file of SQLite, made where there is none, that modules and data are read from and kept in beyond the process; NULL
     * keeps them in memory. It needs the feature `sqlite` of the library.
     */
    const char *store_path;
    /**
     * How many bytes.
     */
    size_t store_path_length;
} solon_options;

/**
 * The kind of an error: one of `SOLON_ERROR_…`, or `SOLON_OK`. Numbers never change; new ones are added at the end.
 */
typedef int32_t solon_code;

/**
 * One of the things that are wrong. Texts live as long as the error.
 */
typedef struct {
    /**
     * Its published code, like `rego_type_error`.
     */
    solon_text code;
    /**
     * What is wrong.
     */
    solon_text message;
    /**
     * The file; empty for queries and inputs, and where there is no place.
     */
    solon_text file;
    /**
     * The row, from 1; 0 where there is no place.
     */
    uint32_t row;
    /**
     * The column, from 1; 0 where there is no place.
     */
    uint32_t column;
} solon_error_entry;

/**
 * What a filter is made for. What is zero is as usual: `solon_filter_options options = {.size = sizeof options};`
 */
typedef struct {
    /**
     * `sizeof(solon_filter_options)`
     */
    size_t size;
    /**
     * The targets, a JSON array of names like `"sql+postgresql"` and `"ucast+prisma"`.
     */
    const char *targets_json;
    /**
     * How many bytes.
     */
    size_t targets_json_length;
    /**
     * What is unknown, a JSON array of references like `"input.fruits"`; NULL is what the rule's METADATA says.
     */
    const char *unknowns_json;
    /**
     * How many bytes.
     */
    size_t unknowns_json_length;
    /**
     * The database's names for tables and columns, a JSON object; NULL is none.
     */
    const char *mappings_json;
    /**
     * How many bytes.
     */
    size_t mappings_json_length;
    /**
     * The rule that computes masks of columns; NULL is what the rule's METADATA says.
     */
    const char *mask_rule;
    /**
     * How many bytes.
     */
    size_t mask_rule_length;
    /**
     * Whether SQL has placeholders, with the values beside it.
     */
    int parameters;
    /**
     * Whether SQL is the condition alone, without `WHERE`.
     */
    int bare;
    /**
     * Whether SQL keeps exactly the rows that are true, of tables that are as the mappings declare them.
     */
    int exact;
    /**
     * The documents that are not inlined, a JSON array of references; NULL is none.
     */
    const char *disable_inlining_json;
    /**
     * How many bytes.
     */
    size_t disable_inlining_json_length;
    /**
     * Whether what the published targets refuse is said where it can be said exactly, as with `exact`.
     */
    int extensions;
} solon_filter_options;

/**
 * What the result of a function depends on: one of `SOLON_FUNCTION_…`.
 */
typedef int32_t solon_purity;

/**
 * What a function does. It is called on the evaluating threads, several at once, and may call the library itself: ask
 * the same engine, and change it.
 *
 * The arguments live as long as the call. The answer is a value of its own, which passes to the library
 * (`solon_value_clone` makes one of an argument), or NULL for undefined. It must return: no `longjmp` and no exception
 * may leave it.
 */
typedef solon_value *(*solon_function_body)(void *userdata,
                                            solon_call *call,
                                            const solon_value *const *arguments,
                                            size_t argument_count);

/**
 * Frees the userdata of a function.
 */
typedef void (*solon_function_release)(void *userdata);

/**
 * A module to be added.
 */
typedef struct {
    /**
     * Its name; the module of that name is replaced.
     */
    solon_text name;
    /**
     * Its text.
     */
    solon_text text;
    /**
     * Its Rego: one of `SOLON_REGO_…`.
     */
    solon_rego rego;
} solon_module;

/**
 * What is unknown, and how far rules are inlined. What is zero is as usual:
 * `solon_partial_options options = {.size = sizeof options};`
 */
typedef struct {
    /**
     * `sizeof(solon_partial_options)`
     */
    size_t size;
    /**
     * What is unknown, a JSON array of references into `input` and `data`; NULL is `["input"]`.
     */
    const char *unknowns_json;
    /**
     * How many bytes.
     */
    size_t unknowns_json_length;
    /**
     * The documents that are not inlined, a JSON array of references; NULL is none.
     */
    const char *disable_inlining_json;
    /**
     * How many bytes.
     */
    size_t disable_inlining_json_length;
    /**
     * Whether no rule that depends on the unknown is inlined, and nothing is simplified.
     */
    int shallow_inlining;
    /**
     * Whether functions that are not deterministic are called when their arguments are known.
     */
    int nondeterministic_builtins;
    /**
     * Whether a default of `false` is left out where a rule only has to hold.
     */
    int skip_false_defaults;
    /**
     * Whether support rules stand where the policy's own do, to take their place.
     */
    int skip_namespace;
    /**
     * The package below `data` that support rules stand in; NULL is `partial`.
     */
    const char *package;
    /**
     * How many bytes.
     */
    size_t package_length;
} solon_partial_options;

/**
 * Where a query stands. What is zero is as usual: `solon_query_options options = {.size = sizeof options};`
 */
typedef struct {
    /**
     * `sizeof(solon_query_options)`
     */
    size_t size;
    /**
     * The package whose rules it may name, like `authz.users`; NULL is none.
     */
    const char *package;
    /**
     * How many bytes.
     */
    size_t package_length;
    /**
     * What it imports, a JSON array like `["data.users as us"]`; NULL is nothing.
     */
    const char *imports_json;
    /**
     * How many bytes.
     */
    size_t imports_json_length;
    /**
     * The built-in functions that it may not call itself, a JSON array of names; NULL is none.
     */
    const char *unsafe_builtins_json;
    /**
     * How many bytes.
     */
    size_t unsafe_builtins_json_length;
    /**
     * Where is added how long its compilation takes.
     */
    solon_metrics *metrics;
} solon_query_options;

/**
 * The kind of a value: one of `SOLON_KIND_…`, in the order by which Rego sorts.
 */
typedef int32_t solon_kind;

/**
 * No error: the code of NULL.
 */
#define SOLON_OK 0

/**
 * A bug of the engine. Please report it.
 */
#define SOLON_ERROR_INTERNAL 1

/**
 * An argument that breaks the rules of this header: a NULL, or text that is not UTF-8.
 */
#define SOLON_ERROR_ARGUMENT 2

/**
 * A module does not parse, or the modules together do not compile.
 */
#define SOLON_ERROR_COMPILE 3

/**
 * An evaluation failed: a conflict, a strict error of a built-in function, or nesting that is too deep.
 */
#define SOLON_ERROR_EVAL 4

/**
 * A base document that does not exist, or that cannot be written at its path.
 */
#define SOLON_ERROR_STORE 5

/**
 * An input, or data, that is not valid JSON or YAML.
 */
#define SOLON_ERROR_INPUT 6

/**
 * A value that does not fit the requested type.
 */
#define SOLON_ERROR_OUTPUT 7

/**
 * A module that does not exist.
 */
#define SOLON_ERROR_UNKNOWN_MODULE 8

/**
 * An invalid option.
 */
#define SOLON_ERROR_OPTIONS 9

/**
 * A path without a rule or a document.
 */
#define SOLON_ERROR_UNKNOWN_PATH 10

/**
 * Files that could not be loaded.
 */
#define SOLON_ERROR_LOAD 11

/**
 * An evaluation that exceeded its time limit.
 */
#define SOLON_ERROR_TIMEOUT 12

/**
 * An evaluation that exceeded its memory limit, or an explanation.
 */
#define SOLON_ERROR_MEMORY 13

/**
 * An evaluation that exceeded its step limit.
 */
#define SOLON_ERROR_STEPS 14

/**
 * An evaluation that the caller cancelled.
 */
#define SOLON_ERROR_CANCELLED 15

/**
 * Every step but unification.
 */
#define SOLON_DETAIL_FULL 0

/**
 * Every step.
 */
#define SOLON_DETAIL_DEBUG 1

/**
 * What failed, and the way to it.
 */
#define SOLON_DETAIL_FAILS 2

/**
 * What `trace` says, and where it was called.
 */
#define SOLON_DETAIL_NOTES 3

/**
 * It answers the same for the same arguments: one evaluation asks it only once for them.
 */
#define SOLON_FUNCTION_PURE 0

/**
 * It may answer otherwise each time.
 */
#define SOLON_FUNCTION_IMPURE 1

/**
 * It waits for the outside, and may answer otherwise each time.
 */
#define SOLON_FUNCTION_WAITING 2

/**
 * The Rego of the engine; of the engine itself, version 1.
 */
#define SOLON_REGO_DEFAULT 0

/**
 * Rego as it was before version 1.
 */
#define SOLON_REGO_V0 1

/**
 * Rego version 1.
 */
#define SOLON_REGO_V1 2

/**
 * Policies see the system: its clock, its random source, its environment, and its network.
 */
#define SOLON_HOST_SYSTEM 0

/**
 * Policies see the system's clock and its random source. Asking for the network ends an evaluation with an error.
 */
#define SOLON_HOST_OFFLINE 1

/**
 * For tests: the clock stands still at `now_ns`, what is random can be foreseen, and there is nothing else.
 */
#define SOLON_HOST_FIXED 2

/**
 * No value at all: NULL.
 */
#define SOLON_KIND_UNDEFINED 0

/**
 * `null`
 */
#define SOLON_KIND_NULL 1

/**
 * `true`, `false`
 */
#define SOLON_KIND_BOOLEAN 2

/**
 * A number of any size.
 */
#define SOLON_KIND_NUMBER 3

/**
 * A string.
 */
#define SOLON_KIND_STRING 4

/**
 * An array.
 */
#define SOLON_KIND_ARRAY 5

/**
 * An object, whose keys may be any values.
 */
#define SOLON_KIND_OBJECT 6

/**
 * A set.
 */
#define SOLON_KIND_SET 7

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Reads the bundle in an archive, a gzip-compressed tar file, and verifies it. Policies are parsed as the engine parses them; the
 * engine does not change. `name` stands in messages. `options` may be NULL.
 */
SOLON_MUST_USE
solon_error *solon_bundle_read(const solon_engine *engine,
                               const char *name,
                               size_t name_length,
                               const char *archive,
                               size_t archive_length,
                               const solon_bundle_options *options,
                               solon_bundle **out);

/**
 * Reads the bundle at a path, a folder or an archive, as `solon_bundle_read` does. Signatures name the files of a folder with
 * `name`.
 */
SOLON_MUST_USE
solon_error *solon_bundle_load(const solon_engine *engine,
                               const char *name,
                               size_t name_length,
                               const char *path,
                               size_t path_length,
                               const solon_bundle_options *options,
                               solon_bundle **out);

/**
 * The manifest of a bundle as JSON, without fields that it does not have but for `revision` and `roots`.
 */
SOLON_MUST_USE solon_error *solon_bundle_manifest_json(const solon_bundle *bundle, solon_bytes *out);

/**
 * Frees a bundle; nothing happens for NULL. An engine that it is active in keeps what it needs.
 */
void solon_bundle_free(solon_bundle *bundle);

/**
 * Activates bundles under names, as one change: their policies and documents replace those below their roots and below those of
 * the bundles that had the names. A delta bundle changes documents of the active bundle of its name.
 *
 * `SOLON_ERROR_LOAD` if two bundles own the same documents.
 */
SOLON_MUST_USE
solon_error *solon_engine_activate_bundles(const solon_engine *engine,
                                           const solon_text *names,
                                           const solon_bundle *const *bundles,
                                           size_t bundle_count);

/**
 * Removes the policies and documents of an active bundle. Nothing happens if no bundle has the name.
 */
SOLON_MUST_USE
solon_error *solon_engine_deactivate_bundle(const solon_engine *engine,
                                            const char *name,
                                            size_t name_length);

/**
 * The active bundles, in order of their names: an array of objects with `name`, `revision` and `roots`.
 */
SOLON_MUST_USE solon_error *solon_engine_bundles(const solon_engine *engine, solon_value **out);

/**
 * Frees bytes that a function gave; nothing happens when `data` is NULL.
 */
void solon_bytes_free(solon_bytes bytes);

/**
 * Makes something that evaluations can be stopped with.
 */
SOLON_MUST_USE solon_error *solon_cancel_new(solon_cancel **out);

/**
 * Stops every evaluation that was given it, now and later: they end with
 * `SOLON_ERROR_CANCELLED`. Nothing happens for NULL.
 */
void solon_cancel_cancel(const solon_cancel *cancel);

/**
 * Whether it was told to stop: 1 or 0; 0 for NULL.
 */
int solon_cancel_is_cancelled(const solon_cancel *cancel);

/**
 * Frees it, when no evaluation has it any more; nothing happens for NULL.
 */
void solon_cancel_free(solon_cancel *cancel);

/**
 * Makes a change that changes nothing yet.
 */
SOLON_MUST_USE solon_error *solon_change_new(solon_change **out);

/**
 * Frees a change, applied or not; nothing happens for NULL.
 */
void solon_change_free(solon_change *change);

/**
 * Adds a module, or replaces the one of that name. `rego` is one of `SOLON_REGO_…`.
 */
SOLON_MUST_USE
solon_error *solon_change_set_module(solon_change *change,
                                     const char *name,
                                     size_t name_length,
                                     const char *text,
                                     size_t text_length,
                                     solon_rego rego);

/**
 * Removes a module.
 */
SOLON_MUST_USE
solon_error *solon_change_remove_module(solon_change *change,
                                        const char *name,
                                        size_t name_length);

/**
 * Writes a document at a path with slashes below `data`; the objects around it are made. The value stays the caller's.
 */
SOLON_MUST_USE
solon_error *solon_change_put(solon_change *change,
                              const char *path,
                              size_t path_length,
                              const solon_value *value);

/**
 * Writes a document, JSON text, at a path with slashes below `data`; the objects around it are made.
 */
SOLON_MUST_USE
solon_error *solon_change_put_json(solon_change *change,
                                   const char *path,
                                   size_t path_length,
                                   const char *json,
                                   size_t json_length);

/**
 * Changes data by a JSON patch (RFC 6902), an array of operations, each of which sees what was changed before it.
 */
SOLON_MUST_USE
solon_error *solon_change_patch_json(solon_change *change,
                                     const char *json,
                                     size_t json_length);

/**
 * Removes a document.
 */
SOLON_MUST_USE solon_error *solon_change_delete(solon_change *change, const char *path, size_t path_length);

/**
 * Makes one that has seen nothing.
 */
SOLON_MUST_USE solon_error *solon_coverage_new(solon_coverage **out);

/**
 * The report on the modules of a moment, as JSON in OPA's form. The modules must be those that were evaluated.
 */
SOLON_MUST_USE
solon_error *solon_coverage_json(solon_coverage *coverage,
                                 const solon_moment *moment,
                                 solon_bytes *out);

/**
 * Frees it; nothing happens for NULL.
 */
void solon_coverage_free(solon_coverage *coverage);

/**
 * Replaces all data by a JSON object.
 */
SOLON_MUST_USE
solon_error *solon_engine_set_data_json(const solon_engine *engine,
                                        const char *json,
                                        size_t json_length);

/**
 * Replaces all data by a YAML mapping, read as OPA reads YAML.
 */
SOLON_MUST_USE
solon_error *solon_engine_set_data_yaml(const solon_engine *engine,
                                        const char *yaml,
                                        size_t yaml_length);

/**
 * The data at a path with slashes; the empty path is all of it. `SOLON_ERROR_STORE` when there is none.
 */
SOLON_MUST_USE
solon_error *solon_engine_get(const solon_engine *engine,
                              const char *path,
                              size_t path_length,
                              solon_value **out);

/**
 * The same as JSON.
 */
SOLON_MUST_USE
solon_error *solon_engine_get_json(const solon_engine *engine,
                                   const char *path,
                                   size_t path_length,
                                   solon_bytes *out);

/**
 * Writes data at a path with slashes; the objects around it are made. The value stays the caller's.
 */
SOLON_MUST_USE
solon_error *solon_engine_put(const solon_engine *engine,
                              const char *path,
                              size_t path_length,
                              const solon_value *value);

/**
 * Writes JSON as data at a path with slashes; the objects around it are made.
 */
SOLON_MUST_USE
solon_error *solon_engine_put_json(const solon_engine *engine,
                                   const char *path,
                                   size_t path_length,
                                   const char *json,
                                   size_t json_length);

/**
 * Changes data by a JSON patch (RFC 6902), an array of operations: all of them happen, or none.
 */
SOLON_MUST_USE
solon_error *solon_engine_patch_json(const solon_engine *engine,
                                     const char *json,
                                     size_t json_length);

/**
 * Removes the data at a path with slashes.
 */
SOLON_MUST_USE
solon_error *solon_engine_delete(const solon_engine *engine,
                                 const char *path,
                                 size_t path_length);

/**
 * Prepares the document at a path below `data`, like `authz/allow`. A path that leads nowhere is undefined when asked.
 */
SOLON_MUST_USE
solon_error *solon_engine_prepare(const solon_engine *engine,
                                  const char *path,
                                  size_t path_length,
                                  solon_document **out);

/**
 * The same for a path that somebody is to have written something for: `SOLON_ERROR_UNKNOWN_PATH` where there is neither a
 * rule nor data.
 */
SOLON_MUST_USE
solon_error *solon_engine_prepare_known(const solon_engine *engine,
                                        const char *path,
                                        size_t path_length,
                                        solon_document **out);

/**
 * Frees a document that no thread uses any more; nothing happens for NULL.
 */
void solon_document_free(solon_document *document);

/**
 * Decides whether the document is exactly `true` for an input, JSON text; NULL leaves `input` undefined.
 *
 * `*allowed` is `false` before anything else happens and stays so on every error: a NULL document, an input that is not JSON,
 * a limit, a bug of the engine. It is `true` only after a decision that is `true`; undefined and any other value are `false`.
 * Without an error no memory of the system is allocated.
 */
SOLON_MUST_USE
solon_error *solon_document_allow(const solon_document *document,
                                  const char *input_json,
                                  size_t input_json_length,
                                  bool *allowed);

/**
 * Evaluates the document and gives it as JSON.
 *
 * The input is JSON; NULL leaves `input` undefined. When the document is undefined, `out->data` is NULL.
 */
SOLON_MUST_USE
solon_error *solon_document_evaluate_json(const solon_document *document,
                                          const char *input_json,
                                          size_t input_json_length,
                                          solon_bytes *out);

/**
 * Asks the document by a request, and gives its value; NULL when it is undefined. The request may be NULL.
 */
SOLON_MUST_USE
solon_error *solon_document_ask(const solon_document *document,
                                const solon_request *request,
                                solon_value **out);

/**
 * Asks the document by a request, and gives it as JSON; `out->data` is NULL when it is undefined.
 */
SOLON_MUST_USE
solon_error *solon_document_ask_json(const solon_document *document,
                                     const solon_request *request,
                                     solon_bytes *out);

/**
 * Decides by a request, which may be NULL, whether the document is exactly `true`. `*allowed` is as for
 * `solon_document_allow`: `false` from the beginning and on every error.
 */
SOLON_MUST_USE
solon_error *solon_document_ask_allow(const solon_document *document,
                                      const solon_request *request,
                                      bool *allowed);

/**
 * Asks the document for each of many inputs, JSON texts, on one moment. The request has no input, and may be NULL.
 *
 * There is an answer for each input, which `solon_bytes_free` frees; `data` is NULL when it is undefined. With `errors`
 * there is an error beside each answer, or NULL; without it the first error ends it all, and there are no answers.
 */
SOLON_MUST_USE
solon_error *solon_document_ask_many_json(const solon_document *document,
                                          const solon_request *request,
                                          const solon_text *inputs_json,
                                          size_t input_count,
                                          solon_bytes *answers,
                                          solon_error **errors);

/**
 * The same for inputs that are values; NULL leaves `input` undefined. `solon_value_free` frees the answers, which are NULL
 * when they are undefined.
 */
SOLON_MUST_USE
solon_error *solon_document_ask_many(const solon_document *document,
                                     const solon_request *request,
                                     const solon_value *const *inputs,
                                     size_t input_count,
                                     solon_value **answers,
                                     solon_error **errors);

/**
 * Asks the document by a request, and tells how the answer was found. `detail` is one of `SOLON_DETAIL_…`. An evaluation
 * that ends with an error has an explanation, too; its accessors tell the error.
 */
SOLON_MUST_USE
solon_error *solon_document_explain(const solon_document *document,
                                    const solon_request *request,
                                    solon_detail detail,
                                    solon_explanation **out);

/**
 * Makes an engine, without modules and data but for those of `options->store_path`. `options` may be NULL: everything is
 * as usual then.
 */
SOLON_MUST_USE
solon_error *solon_engine_new(const solon_options *options,
                              solon_engine **out);

/**
 * Frees an engine that no thread uses any more; nothing happens for NULL. What was prepared keeps what it needs of it.
 */
void solon_engine_free(solon_engine *engine);

/**
 * How many changes there were: it grows with each; 0 for NULL.
 */
uint64_t solon_engine_generation(const solon_engine *engine);

/**
 * Applies a change: all of it happens, and every decision sees all of it or nothing, or there is an error and nothing
 * happens. The change is empty then, either way. `metrics` may be NULL; it is told how long parsing and compiling take.
 */
SOLON_MUST_USE
solon_error *solon_engine_apply(const solon_engine *engine,
                                solon_change *change,
                                solon_metrics *metrics);

/**
 * Tells what a change would do: the moment that it would lead to, which can be asked like any other, or the error.
 * Nothing happens, and the change stays as it is.
 */
SOLON_MUST_USE
solon_error *solon_engine_check(const solon_engine *engine,
                                const solon_change *change,
                                solon_moment **out);

/**
 * The policy and the data as they are now, for decisions that are to rest on the same.
 */
SOLON_MUST_USE solon_error *solon_engine_moment(const solon_engine *engine, solon_moment **out);

/**
 * Evaluates the document at a path below `data`, like `authz/allow`, and gives it as JSON. What is asked often is better
 * prepared.
 *
 * The input is JSON; NULL leaves `input` undefined. When the document is undefined, `out->data` is NULL.
 */
SOLON_MUST_USE
solon_error *solon_engine_evaluate_json(const solon_engine *engine,
                                        const char *path,
                                        size_t path_length,
                                        const char *input_json,
                                        size_t input_json_length,
                                        solon_bytes *out);

/**
 * Gives back the memory that evaluations left to later ones: that of the pool and that of the calling thread.
 */
void solon_release_memory(void);

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
 * How many things are wrong; 0 for NULL, and for errors that are about the call itself.
 */
size_t solon_error_count(const solon_error *error);

/**
 * Reads one of the things that are wrong, by its position from 0: 1 if there is one, and 0 otherwise, which leaves `out`
 * untouched.
 */
int solon_error_entry_at(const solon_error *error,
                         size_t index,
                         solon_error_entry *out);

/**
 * Frees an error; nothing happens for NULL.
 */
void solon_error_free(solon_error *error);

/**
 * The steps as lines for people, each ended by a line feed. With `places` each begins with its file and row, with
 * `variables` each shows the values of the variables.
 */
SOLON_MUST_USE
solon_error *solon_explanation_text(const solon_explanation *explanation,
                                    int places,
                                    int variables,
                                    solon_bytes *out);

/**
 * The steps as JSON, in the form of OPA's REST API.
 */
SOLON_MUST_USE solon_error *solon_explanation_json(const solon_explanation *explanation, solon_bytes *out);

/**
 * The value of the document that was explained, NULL when it is undefined, or the error that the evaluation ended with.
 */
SOLON_MUST_USE
solon_error *solon_explanation_value(const solon_explanation *explanation,
                                     solon_value **out);

/**
 * The solutions of the query that was explained, or the error that the evaluation ended with.
 */
SOLON_MUST_USE
solon_error *solon_explanation_solutions(const solon_explanation *explanation,
                                         solon_solutions **out);

/**
 * What the query that was explained depends on, or the error that the evaluation ended with.
 */
SOLON_MUST_USE
solon_error *solon_explanation_residuals(const solon_explanation *explanation,
                                         solon_residuals **out);

/**
 * Frees an explanation; nothing happens for NULL.
 */
void solon_explanation_free(solon_explanation *explanation);

/**
 * Prepares the rule at a path with slashes, like `filters/include`, to become a filter of rows.
 */
SOLON_MUST_USE
solon_error *solon_engine_prepare_filter(const solon_engine *engine,
                                         const char *path,
                                         size_t path_length,
                                         const solon_filter_options *options,
                                         solon_filter **out);

/**
 * Makes the filter for the input of a request, which may be NULL.
 */
SOLON_MUST_USE
solon_error *solon_filter_make(const solon_filter *filter,
                               const solon_request *request,
                               solon_filtered **out);

/**
 * Frees a filter that no thread uses any more; nothing happens for NULL.
 */
void solon_filter_free(solon_filter *filter);

/**
 * Whether the filter for a target, by its position from 0, keeps any row. 0 for NULL.
 */
int solon_filtered_keeps(const solon_filtered *filtered, size_t index);

/**
 * The condition for a target, by its position from 0. It lives as long as the filter.
 *
 * SQL is empty where every row is kept. Where no row is kept it is a condition that is never true, `WHERE 1 = 0` (`1 = 0`
 * with `bare`), as it is for NULL and for a position without a target. UCAST is the JSON of a tree: `{}` where every row is
 * kept, and empty, which is not JSON, where no row is kept.
 */
solon_text solon_filtered_query(const solon_filtered *filtered,
                                size_t index);

/**
 * The values of the placeholders of a target, by its position from 0: a JSON array, in the order of the placeholders.
 */
solon_text solon_filtered_parameters(const solon_filtered *filtered,
                                     size_t index);

/**
 * What is shown in the place of columns, a JSON object; empty where nothing is masked or no row is kept.
 */
solon_text solon_filtered_masks(const solon_filtered *filtered);

/**
 * All of it as the HTTP API answers: a JSON object.
 */
solon_text solon_filtered_json(const solon_filtered *filtered);

/**
 * Frees what a filter was made to; nothing happens for NULL.
 */
void solon_filtered_free(solon_filtered *filtered);

/**
 * Makes a function that policies may call by a name, which may have dots. Its type is declared in the JSON form of
 * capabilities, so that policies that misuse it do not compile:
 * `{"type": "function", "args": [{"type": "string"}], "result": {"type": "boolean"}}`.
 *
 * `purity` is one of `SOLON_FUNCTION_…`. `userdata` is the first argument of `body`; `release`, unless NULL, is called
 * with it once, when neither the function nor an engine with it is left: a thread keeps what it asked last until it asks
 * another engine, ends, or calls `solon_release_memory`. On an error it is not called.
 */
SOLON_MUST_USE
solon_error *solon_function_new(const char *name,
                                size_t name_length,
                                const char *declaration_json,
                                size_t declaration_json_length,
                                solon_purity purity,
                                solon_function_body body,
                                void *userdata,
                                solon_function_release release,
                                solon_function **out);

/**
 * Frees a function; nothing happens for NULL. Engines that were made with it keep what they need of it.
 */
void solon_function_free(solon_function *function);

/**
 * Lets the call end with an error: undefined where errors of built-ins are, and the end of the evaluation where they are
 * strict. What the function answers does not count then.
 */
SOLON_MUST_USE
solon_error *solon_call_fail(solon_call *call,
                             const char *message,
                             size_t message_length);

/**
 * Lets the evaluation end with an error, strict or not.
 */
SOLON_MUST_USE solon_error *solon_call_halt(solon_call *call, const char *message, size_t message_length);

/**
 * What the request tells of itself, an object; NULL when there is nothing, and for NULL.
 */
const solon_value *solon_call_metadata(const solon_call *call);

/**
 * Tells the caller of the evaluation something beside the answer: `solon_metadata` has it under a name. The value stays
 * the caller's.
 */
SOLON_MUST_USE
solon_error *solon_call_tell(solon_call *call,
                             const char *name,
                             size_t name_length,
                             const solon_value *value);

/**
 * Loads files and folders by OPA's rules: modules are added or replaced, documents merged into the data, all of it or
 * nothing. A folder gives its `.rego`, `.json`, `.yaml` and `.yml` files at any depth, documents at their folder's path;
 * `a.b:path` puts them below `data.a.b`. With `bundles` each path is a folder with a manifest.
 *
 * `SOLON_ERROR_LOAD` tells all that cannot be loaded.
 */
SOLON_MUST_USE
solon_error *solon_engine_load(const solon_engine *engine,
                               const solon_text *paths,
                               size_t path_count,
                               int bundles);

/**
 * Loads files and folders into a change, as `solon_engine_load` does; modules are read as the engine reads them.
 * `ignore_json` is a JSON array of patterns of names that are passed over; NULL is none.
 */
SOLON_MUST_USE
solon_error *solon_change_load(solon_change *change,
                               const solon_engine *engine,
                               const solon_text *paths,
                               size_t path_count,
                               const char *ignore_json,
                               size_t ignore_json_length,
                               int bundles);

/**
 * Makes one without fields.
 */
SOLON_MUST_USE solon_error *solon_metadata_new(solon_metadata **out);

/**
 * The fields, an object.
 */
SOLON_MUST_USE solon_error *solon_metadata_value(solon_metadata *metadata, solon_value **out);

/**
 * Frees it; nothing happens for NULL.
 */
void solon_metadata_free(solon_metadata *metadata);

/**
 * Makes one without anything measured. With `instrument` the steps of evaluations are measured, too, which makes them
 * slower.
 */
SOLON_MUST_USE
solon_error *solon_metrics_new(int instrument,
                               solon_metrics **out);

/**
 * Everything that was measured, a JSON object: `{"timer_rego_query_eval_ns": …}`.
 */
SOLON_MUST_USE solon_error *solon_metrics_json(solon_metrics *metrics, solon_bytes *out);

/**
 * Frees it; nothing happens for NULL.
 */
void solon_metrics_free(solon_metrics *metrics);

/**
 * Adds a module, or replaces the one of that name, and compiles it together with the others.
 */
SOLON_MUST_USE
solon_error *solon_engine_set_module(const solon_engine *engine,
                                     const char *name,
                                     size_t name_length,
                                     const char *text,
                                     size_t text_length);

/**
 * Adds or replaces several modules at once: they may need one another, and either all of it happens or nothing.
 */
SOLON_MUST_USE
solon_error *solon_engine_set_modules(const solon_engine *engine,
                                      const solon_module *modules,
                                      size_t module_count);

/**
 * Removes a module.
 */
SOLON_MUST_USE
solon_error *solon_engine_remove_module(const solon_engine *engine,
                                        const char *name,
                                        size_t name_length);

/**
 * The names of all modules, an array of strings in their order.
 */
SOLON_MUST_USE solon_error *solon_engine_module_names(const solon_engine *engine, solon_value **out);

/**
 * The text of a module.
 */
SOLON_MUST_USE
solon_error *solon_engine_module_text(const solon_engine *engine,
                                      const char *name,
                                      size_t name_length,
                                      solon_bytes *out);

/**
 * The syntax tree of a module as JSON, in OPA's form.
 */
SOLON_MUST_USE
solon_error *solon_engine_module_json(const solon_engine *engine,
                                      const char *name,
                                      size_t name_length,
                                      solon_bytes *out);

/**
 * How many changes the engine had seen; 0 for NULL.
 */
uint64_t solon_moment_generation(const solon_moment *moment);

/**
 * The data at a path with slashes, which lives as long as the moment. `SOLON_ERROR_STORE` when there is none.
 */
SOLON_MUST_USE
solon_error *solon_moment_get(const solon_moment *moment,
                              const char *path,
                              size_t path_length,
                              const solon_value **out);

/**
 * Frees a moment; nothing happens for NULL.
 */
void solon_moment_free(solon_moment *moment);

/**
 * Makes a cache: an empty one of NULL, or one of the JSON that `solon_nd_cache_json` gave, by which a decision repeats.
 */
SOLON_MUST_USE
solon_error *solon_nd_cache_new(const char *json,
                                size_t json_length,
                                solon_nd_cache **out);

/**
 * What is noted, as JSON: answers by function and arguments.
 */
SOLON_MUST_USE solon_error *solon_nd_cache_json(solon_nd_cache *cache, solon_bytes *out);

/**
 * Frees a cache; nothing happens for NULL.
 */
void solon_nd_cache_free(solon_nd_cache *cache);

/**
 * The pairs of an object in the order of its keys; of anything else there are none.
 */
SOLON_MUST_USE solon_error *solon_pairs_new(const solon_value *value, solon_pairs **out);

/**
 * Gives the next pair, whose parts live as long as the object: 1 if there is one, 0 at the end.
 */
int solon_pairs_next(solon_pairs *pairs, const solon_value **key, const solon_value **value);

/**
 * Frees what went through pairs; nothing happens for NULL.
 */
void solon_pairs_free(solon_pairs *pairs);

/**
 * Prepares a query that is asked while something is unknown. Both kinds of options may be NULL.
 */
SOLON_MUST_USE
solon_error *solon_engine_prepare_partial(const solon_engine *engine,
                                          const char *text,
                                          size_t text_length,
                                          const solon_partial_options *options,
                                          const solon_query_options *query_options,
                                          solon_partial **out);

/**
 * Asks by a request, which may be NULL, what the query still depends on.
 */
SOLON_MUST_USE
solon_error *solon_partial_ask(const solon_partial *partial,
                               const solon_request *request,
                               solon_residuals **out);

/**
 * Asks by a request, and tells how the answer was found, as `solon_document_explain` does.
 */
SOLON_MUST_USE
solon_error *solon_partial_explain(const solon_partial *partial,
                                   const solon_request *request,
                                   solon_detail detail,
                                   solon_explanation **out);

/**
 * Frees a partial query that no thread uses any more; nothing happens for NULL.
 */
void solon_partial_free(solon_partial *partial);

/**
 * Makes one without rows.
 */
SOLON_MUST_USE solon_error *solon_profile_new(solon_profile **out);

/**
 * Gives the rows, those that took longest first, as JSON in OPA's form, and begins anew. Files have their names from the
 * moment, whose modules must be those that were evaluated.
 */
SOLON_MUST_USE
solon_error *solon_profile_json(solon_profile *profile,
                                const solon_moment *moment,
                                solon_bytes *out);

/**
 * Frees it; nothing happens for NULL.
 */
void solon_profile_free(solon_profile *profile);

/**
 * Prepares a query, like `x := data.roles[_]; x != input.role`. `options` may be NULL.
 */
SOLON_MUST_USE
solon_error *solon_engine_prepare_query(const solon_engine *engine,
                                        const char *text,
                                        size_t text_length,
                                        const solon_query_options *options,
                                        solon_query **out);

/**
 * Asks the query by a request, which may be NULL, and gives all solutions in the order they are found.
 */
SOLON_MUST_USE
solon_error *solon_query_ask(const solon_query *query,
                             const solon_request *request,
                             solon_solutions **out);

/**
 * Asks the query by a request, and gives all solutions as JSON: `[{"bindings": {"x": 1}, "values": [true]}]`, the values
 * being those of the query's expressions.
 */
SOLON_MUST_USE
solon_error *solon_query_ask_json(const solon_query *query,
                                  const solon_request *request,
                                  solon_bytes *out);

/**
 * Asks the query by a request, and tells how the answer was found, as `solon_document_explain` does.
 */
SOLON_MUST_USE
solon_error *solon_query_explain(const solon_query *query,
                                 const solon_request *request,
                                 solon_detail detail,
                                 solon_explanation **out);

/**
 * Frees a query that no thread uses any more; nothing happens for NULL.
 */
void solon_query_free(solon_query *query);

/**
 * How many bodies there are: without one the query cannot hold. 0 for NULL.
 */
size_t solon_residuals_query_count(const solon_residuals *residuals);

/**
 * The text of a body, by its position from 0; an empty body is always true. For NULL and for a position without a body it is
 * `false`, which never is. It lives as long as the residuals.
 */
solon_text solon_residuals_query(const solon_residuals *residuals,
                                 size_t index);

/**
 * How many modules there are; 0 for NULL.
 */
size_t solon_residuals_support_count(const solon_residuals *residuals);

/**
 * The text of a module, by its position from 0. It lives as long as the residuals.
 */
solon_text solon_residuals_support(const solon_residuals *residuals, size_t index);

/**
 * Bodies and modules as syntax trees: `{"queries": […], "support": […]}`, as OPA's compile API gives them; empty for
 * NULL. It lives as long as the residuals.
 */
solon_text solon_residuals_json(const solon_residuals *residuals);

/**
 * Frees residuals; nothing happens for NULL.
 */
void solon_residuals_free(solon_residuals *residuals);

/**
 * How many solutions there are; 0 for NULL.
 */
size_t solon_solutions_count(const solon_solutions *solutions);

/**
 * How many variables a solution binds; each binds the same.
 */
size_t solon_solutions_binding_count(const solon_solutions *solutions);

/**
 * The name of a variable by its position from 0; empty where there is none.
 */
solon_text solon_solutions_name(const solon_solutions *solutions, size_t position);

/**
 * The value of a variable, by its name, in a solution; NULL where there is none.
 */
const solon_value *solon_solutions_binding(const solon_solutions *solutions,
                                           size_t index,
                                           const char *name,
                                           size_t name_length);

/**
 * The value of an expression of the query, by its position from 0, in a solution; NULL where there is none.
 */
const solon_value *solon_solutions_value(const solon_solutions *solutions, size_t index, size_t expression);

/**
 * Frees solutions; nothing happens for NULL.
 */
void solon_solutions_free(solon_solutions *solutions);

/**
 * Makes `null`.
 */
SOLON_MUST_USE solon_error *solon_value_null(solon_value **out);

/**
 * Makes a boolean: false of 0, true of anything else.
 */
SOLON_MUST_USE solon_error *solon_value_boolean(int boolean, solon_value **out);

/**
 * Makes a whole number.
 */
SOLON_MUST_USE solon_error *solon_value_int(int64_t number, solon_value **out);

/**
 * Makes a number of the shortest decimal that reads back as `number`, which must be finite.
 */
SOLON_MUST_USE solon_error *solon_value_double(double number, solon_value **out);

/**
 * Makes a number of its text, which is written as in JSON; it stays exact.
 */
SOLON_MUST_USE solon_error *solon_value_number(const char *text, size_t text_length, solon_value **out);

/**
 * Makes a string.
 */
SOLON_MUST_USE solon_error *solon_value_string(const char *text, size_t text_length, solon_value **out);

/**
 * Makes an array of values, which stay the caller's.
 */
SOLON_MUST_USE
solon_error *solon_value_array(const solon_value *const *items,
                               size_t item_count,
                               solon_value **out);

/**
 * Makes a set of values, which stay the caller's. Equal ones are one member.
 */
SOLON_MUST_USE
solon_error *solon_value_set(const solon_value *const *items,
                             size_t item_count,
                             solon_value **out);

/**
 * Makes an object of `pair_count` keys and as many values, which stay the caller's. Of equal keys the last counts.
 */
SOLON_MUST_USE
solon_error *solon_value_object(const solon_value *const *keys,
                                const solon_value *const *values,
                                size_t pair_count,
                                solon_value **out);

/**
 * Reads JSON text.
 */
SOLON_MUST_USE solon_error *solon_value_from_json(const char *json, size_t json_length, solon_value **out);

/**
 * Reads YAML text, as OPA reads it.
 */
SOLON_MUST_USE solon_error *solon_value_from_yaml(const char *yaml, size_t yaml_length, solon_value **out);

/**
 * Makes a value of its own of a value or a part of one; they share what they hold.
 */
SOLON_MUST_USE solon_error *solon_value_clone(const solon_value *value, solon_value **out);

/**
 * Frees a value that is the caller's own; nothing happens for NULL.
 */
void solon_value_free(solon_value *value);

/**
 * Writes a value as JSON: sets are arrays, and keys that are no strings become the JSON texts that they are.
 */
SOLON_MUST_USE solon_error *solon_value_json(const solon_value *value, solon_bytes *out);

/**
 * What a value is; `SOLON_KIND_UNDEFINED` for NULL.
 */
solon_kind solon_value_kind(const solon_value *value);

/**
 * Whether a value is `true`: 1 if it is, 0 if it is anything else, or NULL.
 */
int solon_value_is_true(const solon_value *value);

/**
 * Number of elements, members or pairs; of a string, of its bytes; 0 for anything else.
 */
size_t solon_value_length(const solon_value *value);

/**
 * Reads a number that is whole and fits: 1 if it is one, and 0 otherwise, which leaves `out` untouched.
 */
int solon_value_to_int(const solon_value *value, int64_t *out);

/**
 * Reads a number as the nearest `double`: 1 if it is one, and 0 otherwise, which leaves `out` untouched.
 */
int solon_value_to_double(const solon_value *value, double *out);

/**
 * Reads a string where it lies: 1 if it is one, and 0 otherwise, which leaves `out` untouched. It lives as long as the
 * value, and is UTF-8 unless a policy made it of bytes.
 */
int solon_value_to_text(const solon_value *value,
                        solon_text *out);

/**
 * The element of an array, or the member of a set in its order, at a position from 0; NULL beyond the end and for
 * other values.
 */
const solon_value *solon_value_item(const solon_value *value,
                                    size_t index);

/**
 * What an object holds under a key that is a string; NULL when there is none, and for other values.
 */
const solon_value *solon_value_get(const solon_value *value, const char *key, size_t key_length);

/**
 * What an object holds under a key, an array at an index, or the member of a set that equals it; NULL when there is none.
 */
const solon_value *solon_value_lookup(const solon_value *value,
                                      const solon_value *key);

/**
 * Compares two values by Rego's order: below 0, 0 or above 0. NULL is before everything.
 */
int solon_value_compare(const solon_value *left, const solon_value *right);

/**
 * Version of the library in use, like `1.2.3`, ended by NUL; it lives for ever.
 */
const char *solon_version(void);

/**
 * The `SOLON_ABI` of the library in use. A program that was compiled with another one must not go on.
 */
uint32_t solon_abi(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* SOLON_H */
