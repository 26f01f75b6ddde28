/*
 * The C ABI of the Solon policy engine. `include/solon.h` is generated from `ffi/src`, and begins with these lines.
 *
 * Rules
 *
 * Names. `solon_TYPE_VERB` is a function of a type, and its first argument is the handle. A suffix says how data is passed:
 *
 * - no suffix: as a `solon_value`, or as another handle
 * - `_json`, `_yaml`: as text of that format
 * - `_with`: as a `solon_request`, where the function without `_with` takes an input as JSON text
 * - `_new` creates a handle, `_free` frees it, `_count` and `_at` read a list
 *
 * Handles. Every type is opaque, except views of bytes, options and requests. Objects that `_new` or an output returns
 * belong to the caller, who passes them to `_free` once; `_free` accepts NULL. Handles may be freed in any order.
 *
 * Constness. A call does not change what a `const T *` points to. Functions that change an object take a `T *`.
 *
 * Threads. The comment of each type says if several threads may use it at once. For engines and cancellation handles that
 * includes the functions that change them. `_free` is always the last use.
 *
 * Arguments. Inputs come first, outputs last. NULL is `SOLON_ERROR_ARGUMENT` for an output, and for an input unless its
 * documentation gives NULL a meaning.
 *
 * Text is UTF-8, a pointer and a length in bytes. It need not end in NUL, and NULL with length 0 is the empty text. The length
 * `SIZE_MAX` means that the text ends in NUL. `SOLON_STR("authz/allow")` is both arguments of a literal, without a call of `strlen`.
 * Both also apply to texts in structures. Returned text does not end in NUL.
 *
 * Names of documents are references (`data.authz.allow`) or paths with slashes below `data` (`authz/allow`), wherever an argument
 * is called `path` and is not a file. A name that begins with a slash is always a path: `/data.x` is the key `data.x`.
 * Text that starts with `data.` or `data[` and is not a reference, and a reference to anything else, such as `authz.allow`, are
 * `SOLON_ERROR_OPTIONS`.
 *
 * Errors. A function that can fail returns NULL, or an error that the caller frees. On an error outputs are untouched, and
 * the engine is unchanged. Compilers warn if the error is dropped (`SOLON_MUST_USE`). Codes never change; new ones are added at
 * the end, so treat an unknown code like `SOLON_ERROR_INTERNAL`.
 *
 * Decisions are the exception to untouched outputs: a `bool *allowed` is set to `false` before the function reads any other
 * argument, and is `false` on every error. It is `true` only after a decision that is exactly `true`.
 *
 * Constants (`SOLON_ERROR_…`, `SOLON_KIND_…`, `SOLON_REGO_…` and the like) have 32-bit types with every compiler.
 *
 * Panics of Rust never cross into C: every function runs inside one guard, which converts them to `SOLON_ERROR_INTERNAL`.
 *
 * Callbacks run on the evaluating thread, several at once, and may call the library, even with the handle that is being
 * evaluated. They must return: no `longjmp` and no exception may leave them.
 *
 * Structures of options and requests begin with their size: `solon_request request = {.size = sizeof request};`. Zero fields
 * have their defaults. A newer library accepts the structure of an older header.
 *
 * Files. There is one file for each kind of handle; `tests/ffi/c` has programs that use each.
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
 * A string literal as two arguments, its text and its length in bytes: `solon_engine_prepare(engine, SOLON_STR("authz/allow"), &out)`.
 * `{SOLON_STR("authz")}` is a `solon_text`. Anything but a literal does not compile; pass `SIZE_MAX` as the length of other text
 * that ends in NUL.
 */
#define SOLON_STR(literal) ("" literal ""), (sizeof("" literal "") - 1)

/**
 * Version of this header: incremented for breaking changes.
 */
#define SOLON_VERSION_MAJOR 0

/**
 * Version of this header: incremented when functions are added.
 */
#define SOLON_VERSION_MINOR 1

/**
 * Version of this header: incremented for each fix.
 */
#define SOLON_VERSION_PATCH 0

/**
 * ABI version: incremented when programs that were linked earlier would break.
 */
#define SOLON_ABI 1

/**
 * A bundle that was read. Several threads may use it at once.
 */
typedef struct solon_bundle solon_bundle;

/**
 * A call of a function. It is valid until the call returns, on the thread of the call.
 */
typedef struct solon_call solon_call;

/**
 * Cancels the evaluations whose requests name it. Several threads may use it at once.
 */
typedef struct solon_cancel solon_cancel;

/**
 * Collected changes that `solon_engine_apply` applies atomically. Only one thread at a time may use it.
 */
typedef struct solon_change solon_change;

/**
 * Lines of the modules that were evaluated, for all evaluations whose requests name it. Only one thread at a time may use it.
 */
typedef struct solon_coverage solon_coverage;

/**
 * A prepared document. Several threads may evaluate it at once. It follows changes of its engine, and keeps the engine alive.
 */
typedef struct solon_document solon_document;

/**
 * A policy engine. Several threads may change and evaluate it at once. A decision uses the modules and the data of one snapshot,
 * and never waits.
 */
typedef struct solon_engine solon_engine;

/**
 * An error. Several threads may read it at once.
 */
typedef struct solon_error solon_error;

/**
 * A result and its explanation. Several threads may read it at once.
 */
typedef struct solon_explanation solon_explanation;

/**
 * A rule that is prepared to become a row filter. Several threads may evaluate it at once. It follows changes of its engine like
 * a query.
 */
typedef struct solon_filter solon_filter;

/**
 * A filter for each target. Several threads may read it at once.
 */
typedef struct solon_filters solon_filters;

/**
 * A function that policies may call. It may be freed after the engines that use it are created: they keep what they need of it.
 */
typedef struct solon_function solon_function;

/**
 * Fields that host functions add to the response of a decision. Only one thread at a time may use it.
 */
typedef struct solon_metadata solon_metadata;

/**
 * Times and counts by the names that OPA uses. Repeated measurements are added. Only one thread at a time may use it.
 */
typedef struct solon_metrics solon_metrics;

/**
 * Results of non-deterministic functions (`time.now_ns`, `rand.intn`, `http.send` …) in a decision, so that it can be explained
 * or repeated. Only one thread at a time may use it.
 */
typedef struct solon_nd_cache solon_nd_cache;

/**
 * Iterator over the pairs of an object. Only one thread at a time may use it.
 */
typedef struct solon_pairs solon_pairs;

/**
 * A query prepared for partial evaluation. Several threads may evaluate it at once. It follows changes of its engine like a
 * query.
 */
typedef struct solon_partial solon_partial;

/**
 * Evaluation time by row of the modules, for all evaluations whose requests name it. Only one thread at a time may use it.
 */
typedef struct solon_profile solon_profile;

/**
 * A prepared query. Several threads may evaluate it at once. It follows changes of its engine, and keeps the engine alive. After
 * modules change, the next use compiles it again, and fails with `SOLON_ERROR_COMPILE` if it does not compile any more.
 */
typedef struct solon_query solon_query;

/**
 * Residuals of a query: bodies, at least one of which must be true, and the modules that they refer to. Several threads may read
 * it at once.
 */
typedef struct solon_residuals solon_residuals;

/**
 * Snapshot of the modules and the data of an engine. Several threads may use it at once. A request that names it is evaluated on
 * it instead of the current state.
 */
typedef struct solon_snapshot solon_snapshot;

/**
 * The solutions of a query. Several threads may read them at once. Their values live as long as the solutions.
 */
typedef struct solon_solutions solon_solutions;

/**
 * A value. It never changes, so several threads may read it at once.
 *
 * Values that `solon_value_item`, `solon_value_get` and the like return belong to their container, live as long as it, and are
 * not freed. `solon_value_clone` returns an owned value.
 */
typedef struct solon_value solon_value;

/**
 * View of text. Text that the library returns belongs to the object that it was read from, and lives as long as that object.
 */
typedef struct {
    /**
     * First byte; never NULL in text that the library returns.
     */
    const char *data;
    /**
     * Length in bytes.
     */
    size_t length;
} solon_text;

/**
 * A key that verifies bundles.
 */
typedef struct {
    /**
     * Id that signatures refer to.
     */
    solon_text id;
    /**
     * The only algorithm that signatures may use, such as `RS256`.
     */
    solon_text algorithm;
    /**
     * A secret, or a public key or certificate in PEM.
     */
    solon_text key;
    /**
     * Scope that signatures must have unless the options set one; empty for none.
     */
    solon_text scope;
} solon_verification_key;

/**
 * Options for reading a bundle. Zero fields have their defaults: unsigned bundles are accepted, signed ones rejected.
 * `solon_bundle_options options = {.size = sizeof options};`
 */
typedef struct {
    /**
     * `sizeof(solon_bundle_options)`
     */
    size_t size;
    /**
     * Verification keys. If there are any, a bundle must be signed by one of them.
     */
    const solon_verification_key *keys;
    /**
     * Number of keys.
     */
    size_t key_count;
    /**
     * Id of the only key that may have signed the bundle; NULL accepts the key that the signature names.
     */
    const char *key_id;
    /**
     * Length in bytes.
     */
    size_t key_id_length;
    /**
     * Scope that a signature must have; NULL is the scope of the key.
     */
    const char *scope;
    /**
     * Length in bytes.
     */
    size_t scope_length;
    /**
     * Glob patterns of files that need no signature, a JSON array of strings; NULL is none.
     */
    const char *exclude_json;
    /**
     * Length in bytes.
     */
    size_t exclude_json_length;
    /**
     * Accept unsigned bundles even if there are keys. An attacker who can change a bundle can then remove its signature.
     */
    int accept_unsigned;
    /**
     * Accept delta bundles, which cannot be signed, even if there are keys.
     */
    int accept_unsigned_deltas;
    /**
     * Accept all bundles without verifying signatures. `keys` must be empty.
     */
    int skip_verification;
} solon_bundle_options;

/**
 * Bytes that the caller owns and frees with `solon_bytes_free`. `data` is NULL for an absent value, which differs from an empty
 * text.
 */
typedef struct {
    /**
     * First byte.
     */
    char *data;
    /**
     * Length in bytes.
     */
    size_t length;
} solon_bytes;

/**
 * A version of Rego: one of `SOLON_REGO_…`.
 */
typedef int32_t solon_rego;

/**
 * Receives a line that a policy prints. It is called on the evaluating thread, usually at the end of the evaluation, and may
 * call the library.
 */
typedef void (*solon_print)(void *userdata, const char *line, size_t length);

/**
 * Inputs and settings of one evaluation. Zero fields have their defaults: `solon_request request = {.size = sizeof request};`
 *
 * The caller keeps all objects, and must not free them before the evaluation ends.
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
     * Length in bytes.
     */
    size_t input_json_length;
    /**
     * The input as a value.
     */
    const solon_value *input;
    /**
     * Snapshot to evaluate; NULL is the current one.
     */
    const solon_snapshot *snapshot;
    /**
     * Cancels the evaluation from another thread.
     */
    const solon_cancel *cancel;
    /**
     * Time limit in nanoseconds; 0 is the limit of the engine, `UINT64_MAX` is unlimited.
     */
    uint64_t time_limit_ns;
    /**
     * Step limit, in loop iterations and calls; 0 and `UINT64_MAX` as above.
     */
    uint64_t step_limit;
    /**
     * Memory limit in bytes; 0 and `UINT64_MAX` as above.
     */
    uint64_t memory_limit;
    /**
     * Memory limit of an explanation in bytes; 0 and `UINT64_MAX` as above.
     */
    uint64_t explanation_limit;
    /**
     * Fail the evaluation at the first error of a built-in function.
     */
    int strict_builtin_errors;
    /**
     * Receives the lines that policies print.
     */
    solon_print print;
    /**
     * Its first argument.
     */
    void *print_userdata;
    /**
     * Cache for results of non-deterministic functions: they are looked up in it, and added to it.
     */
    solon_nd_cache *nd_cache;
    /**
     * Metadata of the request that host functions may read: an object.
     */
    const solon_value *metadata;
    /**
     * Receives the fields that host functions add to the response.
     */
    solon_metadata *response_metadata;
    /**
     * Metrics that times and counts are added to.
     */
    solon_metrics *metrics;
    /**
     * Coverage that the evaluated lines are added to. Makes the evaluation slower.
     */
    solon_coverage *coverage;
    /**
     * Profile that the times of rows are added to. Makes the evaluation slower.
     */
    solon_profile *profile;
} solon_request;

/**
 * Level of detail of an explanation: one of `SOLON_DETAIL_…`.
 */
typedef int32_t solon_detail;

/**
 * Host access of policies: one of `SOLON_HOST_…`.
 */
typedef int32_t solon_host;

/**
 * Options of an engine. Zero fields have their defaults: `solon_options options = {.size = sizeof options};`
 */
typedef struct {
    /**
     * `sizeof(solon_options)`
     */
    size_t size;
    /**
     * Rego version of modules that do not declare one: one of `SOLON_REGO_…`.
     */
    solon_rego rego;
    /**
     * Enable the compiler checks of strict mode.
     */
    int strict;
    /**
     * Allow base documents at the paths of rules.
     */
    int allow_base_conflicts;
    /**
     * Host access of policies: one of `SOLON_HOST_…`.
     */
    solon_host host;
    /**
     * Time of the clock of `SOLON_HOST_FIXED`, in nanoseconds since 1970.
     */
    int64_t now_ns;
    /**
     * Features that policies may use, in the JSON format of OPA's capabilities; NULL is all features.
     */
    const char *capabilities_json;
    /**
     * Length in bytes.
     */
    size_t capabilities_json_length;
    /**
     * Hosts that policies may connect to, a JSON array of names; NULL uses the capabilities.
     */
    const char *allow_net_json;
    /**
     * Length in bytes.
     */
    size_t allow_net_json_length;
    /**
     * Time limit of an evaluation in nanoseconds; 0 is unlimited.
     */
    uint64_t time_limit_ns;
    /**
     * Step limit of an evaluation, in loop iterations and calls; 0 is unlimited.
     */
    uint64_t step_limit;
    /**
     * Memory limit of an evaluation in bytes; 0 is 1 GiB, `UINT64_MAX` is unlimited.
     */
    uint64_t memory_limit;
    /**
     * Memory limit of an explanation in bytes; 0 is 256 MiB, `UINT64_MAX` is unlimited.
     */
    uint64_t explanation_limit;
    /**
     * Size of the cache of `http.send` responses in bytes; 0 is 64 MiB.
     */
    uint64_t response_cache;
    /**
     * Functions that policies may call like built-in functions. The caller keeps them.
     */
    const solon_function *const *functions;
    /**
     * Number of functions.
     */
    size_t function_count;
    /**
     * SQLite file that stores modules and data beyond the process, created if it does not exist; NULL keeps them in memory.
     * Requires the feature `sqlite` of the library.
     */
    const char *store_path;
    /**
     * Length in bytes.
     */
    size_t store_path_length;
} solon_options;

/**
 * Kind of an error: one of `SOLON_ERROR_…`, or `SOLON_OK`. Numbers never change; new ones are added at the end.
 */
typedef int32_t solon_code;

/**
 * One entry of an error. Texts live as long as the error.
 */
typedef struct {
    /**
     * OPA's error code, like `rego_type_error`.
     */
    solon_text code;
    /**
     * Message.
     */
    solon_text message;
    /**
     * The file; empty for queries and inputs, and without a location.
     */
    solon_text file;
    /**
     * The row, from 1; 0 without a location.
     */
    uint32_t row;
    /**
     * The column, from 1; 0 without a location.
     */
    uint32_t column;
} solon_error_entry;

/**
 * Options of a filter. Zero fields have their defaults: `solon_filter_options options = {.size = sizeof options};`
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
     * Length in bytes.
     */
    size_t targets_json_length;
    /**
     * Unknown references, a JSON array like `["input.fruits"]`; NULL uses the METADATA of the rule.
     */
    const char *unknowns_json;
    /**
     * Length in bytes.
     */
    size_t unknowns_json_length;
    /**
     * Names of tables and columns in the database, a JSON object; NULL is none.
     */
    const char *mappings_json;
    /**
     * Length in bytes.
     */
    size_t mappings_json_length;
    /**
     * The rule that computes masks of columns: its name, or its last step if it is in the package of the rule; NULL uses the
     * METADATA of the rule.
     */
    const char *mask_rule;
    /**
     * Length in bytes.
     */
    size_t mask_rule_length;
    /**
     * Generate SQL with placeholders, and return their values separately.
     */
    int parameters;
    /**
     * Generate only the SQL condition, without `WHERE`.
     */
    int bare;
    /**
     * Generate SQL that selects exactly the rows for which the rule is true, if the tables are as the mappings declare them.
     */
    int exact;
    /**
     * Documents that are not inlined, a JSON array of references; NULL is none.
     */
    const char *disable_inlining_json;
    /**
     * Length in bytes.
     */
    size_t disable_inlining_json_length;
    /**
     * Generate conditions that OPA's targets reject, if they can be expressed exactly, as with `exact`.
     */
    int extensions;
} solon_filter_options;

/**
 * Options of the formatter, the flags of `solon fmt`. Zero fields have their defaults: Rego v1 is read and written.
 * `solon_format_options options = {.size = sizeof options};`
 */
typedef struct {
    /**
     * `sizeof(solon_format_options)`
     */
    size_t size;
    /**
     * Name of the module in errors; NULL is the empty name.
     */
    const char *name;
    /**
     * Length in bytes.
     */
    size_t name_length;
    /**
     * Read and write Rego v0.
     */
    int v0_compatible;
    /**
     * Read Rego v0 and write text that is valid as v0 and as v1.
     */
    int v0_v1;
    /**
     * Read Rego v1 where `v0_v1` would read v0.
     */
    int v1_compatible;
    /**
     * Drop the imports that Rego v1 does not need.
     */
    int drop_v0_imports;
    /**
     * Features that policies may use, in the JSON format of OPA's capabilities; NULL is all features.
     */
    const char *capabilities_json;
    /**
     * Length in bytes.
     */
    size_t capabilities_json_length;
} solon_format_options;

/**
 * Purity of a function: one of `SOLON_FUNCTION_…`.
 */
typedef int32_t solon_purity;

/**
 * Body of a function. It is called on evaluating threads, several at once. It may call the library, evaluate the same engine and
 * change it.
 *
 * The arguments are valid until the call returns. The result is an owned value that passes to the library (`solon_value_clone`
 * copies an argument), or NULL for undefined. The body must return: no `longjmp` and no exception may leave it.
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
 * A module to add.
 */
typedef struct {
    /**
     * Its name; an existing module of that name is replaced.
     */
    solon_text name;
    /**
     * Its source text.
     */
    solon_text text;
    /**
     * Its Rego version: one of `SOLON_REGO_…`.
     */
    solon_rego rego;
} solon_module;

/**
 * Options of partial evaluation. Zero fields have their defaults: `solon_partial_options options = {.size = sizeof options};`
 */
typedef struct {
    /**
     * `sizeof(solon_partial_options)`
     */
    size_t size;
    /**
     * Unknown references into `input` and `data`, a JSON array; NULL is `["input"]`.
     */
    const char *unknowns_json;
    /**
     * Length in bytes.
     */
    size_t unknowns_json_length;
    /**
     * Documents that are not inlined, a JSON array of references; NULL is none.
     */
    const char *disable_inlining_json;
    /**
     * Length in bytes.
     */
    size_t disable_inlining_json_length;
    /**
     * Do not inline rules that depend on unknowns, and do not simplify.
     */
    int shallow_inlining;
    /**
     * Call non-deterministic functions if their arguments are known.
     */
    int nondeterministic_builtins;
    /**
     * Leave out a default of `false` if a rule is only tested for truth.
     */
    int skip_false_defaults;
    /**
     * Put support rules into the packages of the policy, to replace its rules.
     */
    int skip_namespace;
    /**
     * Package of the support rules below `data`; NULL is `partial`.
     */
    const char *package;
    /**
     * Length in bytes.
     */
    size_t package_length;
} solon_partial_options;

/**
 * Context of a query. Zero fields have their defaults: `solon_query_options options = {.size = sizeof options};`
 */
typedef struct {
    /**
     * `sizeof(solon_query_options)`
     */
    size_t size;
    /**
     * Package whose rules it may refer to, like `authz.users`; NULL is none.
     */
    const char *package;
    /**
     * Length in bytes.
     */
    size_t package_length;
    /**
     * Imports of the query, a JSON array like `["data.users as us"]`; NULL is none.
     */
    const char *imports_json;
    /**
     * Length in bytes.
     */
    size_t imports_json_length;
    /**
     * Built-in functions that it must not call itself, a JSON array of names; NULL is none.
     */
    const char *unsafe_builtins_json;
    /**
     * Length in bytes.
     */
    size_t unsafe_builtins_json_length;
    /**
     * Metrics that its compilation time is added to.
     */
    solon_metrics *metrics;
} solon_query_options;

/**
 * Kind of a value: one of `SOLON_KIND_…`, in Rego's sort order.
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
 * An invalid argument, such as NULL or text that is not UTF-8.
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
 * All steps except unification.
 */
#define SOLON_DETAIL_FULL 0

/**
 * All steps.
 */
#define SOLON_DETAIL_DEBUG 1

/**
 * Failed expressions and the steps that lead to them.
 */
#define SOLON_DETAIL_FAILS 2

/**
 * Notes of `trace`, and the steps that lead to them.
 */
#define SOLON_DETAIL_NOTES 3

/**
 * The result depends only on the arguments. An evaluation calls the function once for the same arguments.
 */
#define SOLON_FUNCTION_PURE 0

/**
 * The result may differ from call to call.
 */
#define SOLON_FUNCTION_IMPURE 1

/**
 * The function waits for external I/O, and its result may differ from call to call.
 */
#define SOLON_FUNCTION_WAITING 2

/**
 * The default of the engine; for the engine itself, version 1.
 */
#define SOLON_REGO_DEFAULT 0

/**
 * Rego before version 1.
 */
#define SOLON_REGO_V0 1

/**
 * Rego version 1.
 */
#define SOLON_REGO_V1 2

/**
 * Policies can access the system: its clock, random source, environment and network.
 */
#define SOLON_HOST_SYSTEM 0

/**
 * Policies can access the clock and the random source of the system. A network request fails the evaluation.
 */
#define SOLON_HOST_OFFLINE 1

/**
 * For tests: the clock is fixed at `now_ns`, random numbers are predictable, and policies can access nothing else.
 */
#define SOLON_HOST_FIXED 2

/**
 * No value: NULL.
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
 * An object, whose keys may be of any kind.
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
 * Reads and verifies the bundle in an archive, a gzip-compressed tar file. The length of an archive is never `SIZE_MAX`. Policies
 * are parsed with the settings of the engine; the engine does not change. `name` appears in messages. `options` may be NULL.
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
 * Reads the bundle at a path, a folder or an archive, like `solon_bundle_read`. Signatures refer to the files of a folder with
 * the prefix `name`.
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
 * Returns the manifest of a bundle as JSON. Absent fields are left out, except `revision` and `roots`.
 */
SOLON_MUST_USE solon_error *solon_bundle_manifest_json(const solon_bundle *bundle, solon_bytes *out);

/**
 * Frees a bundle; does nothing for NULL. Engines in which it is active keep what they need.
 */
void solon_bundle_free(solon_bundle *bundle);

/**
 * Activates bundles under names in one change. Their policies and documents replace everything below their roots, and below the
 * roots of the bundles that had the names. A delta bundle changes documents of the active bundle of its name.
 *
 * Fails with `SOLON_ERROR_LOAD` if two bundles own the same documents.
 */
SOLON_MUST_USE
solon_error *solon_engine_activate_bundles(solon_engine *engine,
                                           const solon_text *names,
                                           const solon_bundle *const *bundles,
                                           size_t bundle_count);

/**
 * Removes the policies and documents of an active bundle. Does nothing if no bundle has the name.
 */
SOLON_MUST_USE
solon_error *solon_engine_deactivate_bundle(solon_engine *engine,
                                            const char *name,
                                            size_t name_length);

/**
 * Returns the active bundles, sorted by name: an array of objects with `name`, `revision` and `roots`.
 */
SOLON_MUST_USE solon_error *solon_engine_bundles(const solon_engine *engine, solon_value **out);

/**
 * Frees bytes that a function returned; does nothing if `data` is NULL.
 */
void solon_bytes_free(solon_bytes bytes);

/**
 * Creates a cancellation handle.
 */
SOLON_MUST_USE solon_error *solon_cancel_new(solon_cancel **out);

/**
 * Cancels all current and future evaluations whose requests name it. They fail with `SOLON_ERROR_CANCELLED`. Does nothing for
 * NULL.
 */
void solon_cancel_cancel(solon_cancel *cancel);

/**
 * Returns 1 if it was cancelled, and 0 otherwise or for NULL.
 */
int solon_cancel_is_cancelled(const solon_cancel *cancel);

/**
 * Frees the handle, which no evaluation may still use; does nothing for NULL.
 */
void solon_cancel_free(solon_cancel *cancel);

/**
 * Creates an empty change.
 */
SOLON_MUST_USE solon_error *solon_change_new(solon_change **out);

/**
 * Frees a change, applied or not; does nothing for NULL.
 */
void solon_change_free(solon_change *change);

/**
 * Adds the module, or replaces the module of that name. `rego` is one of `SOLON_REGO_…`.
 */
SOLON_MUST_USE
solon_error *solon_change_set_module(solon_change *change,
                                     const char *name,
                                     size_t name_length,
                                     const char *text,
                                     size_t text_length,
                                     solon_rego rego);

/**
 * Removes a module. If there is none of this name, applying the change fails with `resource_not_found`.
 */
SOLON_MUST_USE
solon_error *solon_change_remove_module(solon_change *change,
                                        const char *name,
                                        size_t name_length);

/**
 * Writes a document at a path below `data`, and creates missing parent objects. The caller keeps the value.
 */
SOLON_MUST_USE
solon_error *solon_change_put(solon_change *change,
                              const char *path,
                              size_t path_length,
                              const solon_value *value);

/**
 * Writes a document, JSON text, at a path below `data`, and creates missing parent objects.
 */
SOLON_MUST_USE
solon_error *solon_change_put_json(solon_change *change,
                                   const char *path,
                                   size_t path_length,
                                   const char *json,
                                   size_t json_length);

/**
 * Applies a JSON patch (RFC 6902) to the data, an array of operations. Each operation applies to the result of the previous one.
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
 * Creates an empty coverage.
 */
SOLON_MUST_USE solon_error *solon_coverage_new(solon_coverage **out);

/**
 * Returns the coverage report for the modules of a snapshot, as JSON in OPA's format. The modules must be those that were
 * evaluated.
 */
SOLON_MUST_USE
solon_error *solon_coverage_json(const solon_coverage *coverage,
                                 const solon_snapshot *snapshot,
                                 solon_bytes *out);

/**
 * Frees the coverage; does nothing for NULL.
 */
void solon_coverage_free(solon_coverage *coverage);

/**
 * Replaces all data with a JSON object.
 */
SOLON_MUST_USE
solon_error *solon_engine_set_data_json(solon_engine *engine,
                                        const char *json,
                                        size_t json_length);

/**
 * Replaces all data with a YAML mapping, parsed as OPA parses YAML.
 */
SOLON_MUST_USE
solon_error *solon_engine_set_data_yaml(solon_engine *engine,
                                        const char *yaml,
                                        size_t yaml_length);

/**
 * Returns the data at a path; the empty path is all data. Fails with `SOLON_ERROR_STORE` if there is none.
 */
SOLON_MUST_USE
solon_error *solon_engine_get(const solon_engine *engine,
                              const char *path,
                              size_t path_length,
                              solon_value **out);

/**
 * Returns the data at a path as JSON, like `solon_engine_get`.
 */
SOLON_MUST_USE
solon_error *solon_engine_get_json(const solon_engine *engine,
                                   const char *path,
                                   size_t path_length,
                                   solon_bytes *out);

/**
 * Writes data at a path, and creates missing parent objects. The caller keeps the value.
 */
SOLON_MUST_USE
solon_error *solon_engine_put(solon_engine *engine,
                              const char *path,
                              size_t path_length,
                              const solon_value *value);

/**
 * Writes JSON as data at a path, and creates missing parent objects.
 */
SOLON_MUST_USE
solon_error *solon_engine_put_json(solon_engine *engine,
                                   const char *path,
                                   size_t path_length,
                                   const char *json,
                                   size_t json_length);

/**
 * Applies a JSON patch (RFC 6902) to the data, an array of operations: all of them or, on an error, none.
 */
SOLON_MUST_USE
solon_error *solon_engine_patch_json(solon_engine *engine,
                                     const char *json,
                                     size_t json_length);

/**
 * Removes the data at a path.
 */
SOLON_MUST_USE solon_error *solon_engine_delete(solon_engine *engine, const char *path, size_t path_length);

/**
 * Prepares a document, like `data.authz.allow` or `authz/allow`. A document without a rule or data evaluates to undefined.
 */
SOLON_MUST_USE
solon_error *solon_engine_prepare(const solon_engine *engine,
                                  const char *path,
                                  size_t path_length,
                                  solon_document **out);

/**
 * Prepares a document like `solon_engine_prepare`, but fails with `SOLON_ERROR_UNKNOWN_PATH` if the path has neither a rule nor
 * data.
 */
SOLON_MUST_USE
solon_error *solon_engine_prepare_existing(const solon_engine *engine,
                                           const char *path,
                                           size_t path_length,
                                           solon_document **out);

/**
 * Frees a document that no thread uses any more; does nothing for NULL.
 */
void solon_document_free(solon_document *document);

/**
 * Decides if the document is exactly `true` for an input, JSON text; NULL leaves `input` undefined.
 *
 * `*allowed` is set to `false` first and stays `false` on every error: a NULL document, invalid JSON, an exceeded limit, a bug
 * of the engine. It is `true` only after a decision that is `true`; undefined and any other value are `false`. A call that
 * succeeds allocates no heap memory.
 */
SOLON_MUST_USE
solon_error *solon_document_allow(const solon_document *document,
                                  const char *input_json,
                                  size_t input_json_length,
                                  bool *allowed);

/**
 * Evaluates the document and returns it as JSON.
 *
 * The input is JSON; NULL leaves `input` undefined. If the document is undefined, `out->data` is NULL.
 */
SOLON_MUST_USE
solon_error *solon_document_evaluate_json(const solon_document *document,
                                          const char *input_json,
                                          size_t input_json_length,
                                          solon_bytes *out);

/**
 * Evaluates the document for a request, which may be NULL, and returns its value; NULL if it is undefined.
 */
SOLON_MUST_USE
solon_error *solon_document_evaluate(const solon_document *document,
                                     const solon_request *request,
                                     solon_value **out);

/**
 * Evaluates the document for a request and returns it as JSON; `out->data` is NULL if it is undefined.
 */
SOLON_MUST_USE
solon_error *solon_document_evaluate_json_with(const solon_document *document,
                                               const solon_request *request,
                                               solon_bytes *out);

/**
 * Decides if the document is exactly `true` for a request, which may be NULL. `*allowed` has the guarantees of
 * `solon_document_allow`: `false` from the start and on every error.
 */
SOLON_MUST_USE
solon_error *solon_document_allow_with(const solon_document *document,
                                       const solon_request *request,
                                       bool *allowed);

/**
 * Evaluates the document for many inputs, JSON texts, on one snapshot. The request has no input, and may be NULL.
 *
 * Each input has a result, which `solon_bytes_free` frees; `data` is NULL if it is undefined. With `errors`, each input also has
 * an error or NULL. Without `errors`, the first error ends the call, and nothing is returned.
 */
SOLON_MUST_USE
solon_error *solon_document_evaluate_many_json(const solon_document *document,
                                               const solon_request *request,
                                               const solon_text *inputs_json,
                                               size_t input_count,
                                               solon_bytes *answers,
                                               solon_error **errors);

/**
 * Evaluates the document for many inputs that are values, like `solon_document_evaluate_many_json`; NULL leaves `input` undefined.
 * `solon_value_free` frees the results, which are NULL if they are undefined.
 */
SOLON_MUST_USE
solon_error *solon_document_evaluate_many(const solon_document *document,
                                          const solon_request *request,
                                          const solon_value *const *inputs,
                                          size_t input_count,
                                          solon_value **answers,
                                          solon_error **errors);

/**
 * Evaluates the document for a request and explains the result. `detail` is one of `SOLON_DETAIL_…`. An evaluation that fails
 * has an explanation, too, whose accessors return the error.
 */
SOLON_MUST_USE
solon_error *solon_document_explain(const solon_document *document,
                                    const solon_request *request,
                                    solon_detail detail,
                                    solon_explanation **out);

/**
 * Creates an engine. It has no modules and data, except those of `options->store_path`. `options` may be NULL for the defaults.
 */
SOLON_MUST_USE
solon_error *solon_engine_new(const solon_options *options,
                              solon_engine **out);

/**
 * Frees an engine that no thread uses any more; does nothing for NULL. Prepared documents and queries keep what they need of it.
 */
void solon_engine_free(solon_engine *engine);

/**
 * Returns the number of changes so far; 0 for NULL.
 */
uint64_t solon_engine_generation(const solon_engine *engine);

/**
 * Applies a change atomically: a decision uses all of it or nothing, and on an error nothing changes. The change is empty
 * afterwards in both cases. `metrics` may be NULL; otherwise the times of parsing and compiling are added to it.
 */
SOLON_MUST_USE
solon_error *solon_engine_apply(solon_engine *engine,
                                solon_change *change,
                                solon_metrics *metrics);

/**
 * Checks a change without applying it: returns the snapshot that it would create, which can be evaluated like any other, or the
 * error. The change stays as it is.
 */
SOLON_MUST_USE
solon_error *solon_engine_check(const solon_engine *engine,
                                const solon_change *change,
                                solon_snapshot **out);

/**
 * Returns a snapshot of the current policy and data, for several decisions on the same state.
 */
SOLON_MUST_USE solon_error *solon_engine_snapshot(const solon_engine *engine, solon_snapshot **out);

/**
 * Evaluates a document, like `data.authz.allow` or `authz/allow`, and returns it as JSON. For repeated evaluations, prepare the
 * document instead.
 *
 * The input is JSON; NULL leaves `input` undefined. If the document is undefined, `out->data` is NULL.
 */
SOLON_MUST_USE
solon_error *solon_engine_evaluate_json(const solon_engine *engine,
                                        const char *path,
                                        size_t path_length,
                                        const char *input_json,
                                        size_t input_json_length,
                                        solon_bytes *out);

/**
 * Frees memory that is cached for later evaluations, in the shared pool and in the calling thread.
 */
void solon_release_memory(void);

/**
 * Returns the code; `SOLON_OK` for NULL.
 */
solon_code solon_error_code(const solon_error *error);

/**
 * Returns the message, one line per entry; empty for NULL. It lives as long as the error.
 */
solon_text solon_error_message(const solon_error *error);

/**
 * Returns the error as JSON: `{"kind", "message", "errors": [{"code", "message", "location": {"file", "row", "col"},
 * "details"}]}`; empty for NULL. It lives as long as the error.
 */
solon_text solon_error_json(const solon_error *error);

/**
 * Returns the number of entries; 0 for NULL, and for errors about the call itself.
 */
size_t solon_error_count(const solon_error *error);

/**
 * Reads the entry at a position from 0. Returns 1 if there is one; otherwise returns 0 and leaves `out` untouched.
 */
int solon_error_entry_at(const solon_error *error,
                         size_t index,
                         solon_error_entry *out);

/**
 * Frees an error; does nothing for NULL.
 */
void solon_error_free(solon_error *error);

/**
 * Returns the steps as human-readable lines, each ended by a line feed. With `places`, each line begins with its file and row.
 * With `variables`, each line shows the values of the variables.
 */
SOLON_MUST_USE
solon_error *solon_explanation_text(const solon_explanation *explanation,
                                    int places,
                                    int variables,
                                    solon_bytes *out);

/**
 * Returns the steps as JSON, in the format of OPA's REST API.
 */
SOLON_MUST_USE solon_error *solon_explanation_json(const solon_explanation *explanation, solon_bytes *out);

/**
 * Returns the value of the explained document, NULL if it is undefined, or the error that the evaluation ended with.
 */
SOLON_MUST_USE
solon_error *solon_explanation_value(const solon_explanation *explanation,
                                     solon_value **out);

/**
 * Returns the solutions of the explained query, or the error that the evaluation ended with.
 */
SOLON_MUST_USE
solon_error *solon_explanation_solutions(const solon_explanation *explanation,
                                         solon_solutions **out);

/**
 * Returns the residuals of the explained query, or the error that the evaluation ended with.
 */
SOLON_MUST_USE
solon_error *solon_explanation_residuals(const solon_explanation *explanation,
                                         solon_residuals **out);

/**
 * Frees an explanation; does nothing for NULL.
 */
void solon_explanation_free(solon_explanation *explanation);

/**
 * Prepares a rule, like `data.filters.include` or `filters/include`, to become a row filter. Fails with
 * `SOLON_ERROR_UNKNOWN_PATH` if the rule, or the rule for masks, does not exist.
 */
SOLON_MUST_USE
solon_error *solon_engine_prepare_filter(const solon_engine *engine,
                                         const char *path,
                                         size_t path_length,
                                         const solon_filter_options *options,
                                         solon_filter **out);

/**
 * Generates the filter for the input of a request, which may be NULL.
 */
SOLON_MUST_USE
solon_error *solon_filter_evaluate(const solon_filter *filter,
                                   const solon_request *request,
                                   solon_filters **out);

/**
 * Frees a filter that no thread uses any more; does nothing for NULL.
 */
void solon_filter_free(solon_filter *filter);

/**
 * Returns 1 if the filter for a target, by its position from 0, can select any row; 0 otherwise and for NULL.
 */
int solon_filters_keeps(const solon_filters *filters, size_t index);

/**
 * Returns the condition for a target, by its position from 0. It lives as long as the filter.
 *
 * SQL is empty if all rows are selected. If no row is selected, it is a condition that is never true, `WHERE 1 = 0` (`1 = 0`
 * with `bare`), as it is for NULL and for a position without a target. UCAST is the JSON of a tree: `{}` if all rows are
 * selected, and empty, which is not valid JSON, if no row is selected.
 */
solon_text solon_filters_query(const solon_filters *filters,
                               size_t index);

/**
 * Returns the values of the placeholders for a target, by its position from 0: a JSON array, in the order of the placeholders.
 */
solon_text solon_filters_parameters(const solon_filters *filters,
                                    size_t index);

/**
 * Returns the masks of columns, a JSON object; empty if nothing is masked or no row is selected.
 */
solon_text solon_filters_masks(const solon_filters *filters);

/**
 * Returns the filters as one JSON object, in the format of the HTTP API.
 */
solon_text solon_filters_json(const solon_filters *filters);

/**
 * Frees generated filters; does nothing for NULL.
 */
void solon_filters_free(solon_filters *filters);

/**
 * Formats the text of a module as `solon fmt` does. `options` may be NULL for the defaults.
 *
 * Fails with `SOLON_ERROR_COMPILE` if the text does not parse, or cannot be written in the wanted version. The entries of the
 * error have row and column (`solon_error_entry_at`).
 */
SOLON_MUST_USE
solon_error *solon_format(const char *text,
                          size_t text_length,
                          const solon_format_options *options,
                          solon_bytes *out);

/**
 * Creates a function that policies may call by a name, which may contain dots. Its type is declared in the JSON format of
 * capabilities, so that policies that misuse it do not compile: `{"type": "function", "args": [{"type": "string"}], "result":
 * {"type": "boolean"}}`.
 *
 * `purity` is one of `SOLON_FUNCTION_…`. `userdata` is the first argument of `body`.
 *
 * Unless `release` is NULL, it is called once with `userdata`, when neither the function nor an engine with it exists any more.
 * A thread keeps the last evaluated engine until it evaluates another engine, ends, or calls `solon_release_memory`. On an error
 * `release` is not called.
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
 * Frees a function; does nothing for NULL. Engines that were created with it keep what they need of it.
 */
void solon_function_free(solon_function *function);

/**
 * Fails the call. The result is undefined, or the evaluation fails if errors of built-in functions are strict. The returned
 * value of the function is ignored.
 */
SOLON_MUST_USE
solon_error *solon_call_fail(solon_call *call,
                             const char *message,
                             size_t message_length);

/**
 * Fails the evaluation, strict or not.
 */
SOLON_MUST_USE solon_error *solon_call_halt(solon_call *call, const char *message, size_t message_length);

/**
 * Returns the metadata of the request, an object; NULL if there is none, and for NULL.
 */
const solon_value *solon_call_metadata(const solon_call *call);

/**
 * Adds a field to the response metadata, which `solon_metadata` returns by name. The caller keeps the value.
 */
SOLON_MUST_USE
solon_error *solon_call_add_response_metadata(solon_call *call,
                                              const char *name,
                                              size_t name_length,
                                              const solon_value *value);

/**
 * Loads files and folders by OPA's rules. Modules are added or replaced, and documents are merged into the data, all of it or
 * nothing.
 *
 * From a folder it loads `.rego`, `.json`, `.yaml` and `.yml` files at any depth, and puts documents at the path of their
 * folder. `a.b:path` puts them below `data.a.b`. With `bundles`, each path is a folder with a manifest.
 *
 * Fails with `SOLON_ERROR_LOAD`, which lists everything that cannot be loaded.
 */
SOLON_MUST_USE
solon_error *solon_engine_load(solon_engine *engine,
                               const solon_text *paths,
                               size_t path_count,
                               int bundles);

/**
 * Loads files and folders into a change, like `solon_engine_load`. Modules are parsed with the settings of the engine.
 * `ignore_json` is a JSON array of patterns of file names to skip; NULL is none.
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
 * Creates response metadata without fields.
 */
SOLON_MUST_USE solon_error *solon_metadata_new(solon_metadata **out);

/**
 * Returns the fields, an object.
 */
SOLON_MUST_USE solon_error *solon_metadata_value(const solon_metadata *metadata, solon_value **out);

/**
 * Frees the metadata; does nothing for NULL.
 */
void solon_metadata_free(solon_metadata *metadata);

/**
 * Creates empty metrics. With `instrument` the steps of evaluations are measured, too, which makes evaluations slower.
 */
SOLON_MUST_USE
solon_error *solon_metrics_new(int instrument,
                               solon_metrics **out);

/**
 * Returns all measurements, a JSON object: `{"timer_rego_query_eval_ns": …}`.
 */
SOLON_MUST_USE solon_error *solon_metrics_json(const solon_metrics *metrics, solon_bytes *out);

/**
 * Frees the metrics; does nothing for NULL.
 */
void solon_metrics_free(solon_metrics *metrics);

/**
 * Adds the module, or replaces the module of that name, and compiles it together with the others.
 */
SOLON_MUST_USE
solon_error *solon_engine_set_module(solon_engine *engine,
                                     const char *name,
                                     size_t name_length,
                                     const char *text,
                                     size_t text_length);

/**
 * Adds or replaces several modules in one change, all of them or none. They may refer to one another.
 */
SOLON_MUST_USE
solon_error *solon_engine_set_modules(solon_engine *engine,
                                      const solon_module *modules,
                                      size_t module_count);

/**
 * Removes a module.
 */
SOLON_MUST_USE
solon_error *solon_engine_remove_module(solon_engine *engine,
                                        const char *name,
                                        size_t name_length);

/**
 * Returns the names of all modules, a sorted array of strings.
 */
SOLON_MUST_USE solon_error *solon_engine_module_names(const solon_engine *engine, solon_value **out);

/**
 * Returns the source text of a module.
 */
SOLON_MUST_USE
solon_error *solon_engine_module_text(const solon_engine *engine,
                                      const char *name,
                                      size_t name_length,
                                      solon_bytes *out);

/**
 * Returns the syntax tree of a module as JSON, in OPA's format.
 */
SOLON_MUST_USE
solon_error *solon_engine_module_json(const solon_engine *engine,
                                      const char *name,
                                      size_t name_length,
                                      solon_bytes *out);

/**
 * Creates a cache: empty for NULL, otherwise from the JSON of `solon_nd_cache_json`, so that a decision repeats.
 */
SOLON_MUST_USE
solon_error *solon_nd_cache_new(const char *json,
                                size_t json_length,
                                solon_nd_cache **out);

/**
 * Returns the cache as JSON: results by function and arguments.
 */
SOLON_MUST_USE solon_error *solon_nd_cache_json(const solon_nd_cache *cache, solon_bytes *out);

/**
 * Frees a cache; does nothing for NULL.
 */
void solon_nd_cache_free(solon_nd_cache *cache);

/**
 * Creates an iterator over the pairs of an object, sorted by key. For any other value it is empty.
 */
SOLON_MUST_USE solon_error *solon_pairs_new(const solon_value *value, solon_pairs **out);

/**
 * Returns the next pair, whose key and value live as long as the object. The result is 1 if there is one, 0 at the end.
 */
int solon_pairs_next(solon_pairs *pairs,
                     const solon_value **key,
                     const solon_value **value);

/**
 * Frees the iterator; does nothing for NULL.
 */
void solon_pairs_free(solon_pairs *pairs);

/**
 * Prepares a query for partial evaluation. Both kinds of options may be NULL.
 */
SOLON_MUST_USE
solon_error *solon_engine_prepare_partial(const solon_engine *engine,
                                          const char *text,
                                          size_t text_length,
                                          const solon_partial_options *options,
                                          const solon_query_options *query_options,
                                          solon_partial **out);

/**
 * Evaluates the query partially for a request, which may be NULL, and returns the residuals.
 */
SOLON_MUST_USE
solon_error *solon_partial_evaluate(const solon_partial *partial,
                                    const solon_request *request,
                                    solon_residuals **out);

/**
 * Evaluates the query partially for a request and explains the result, like `solon_document_explain`.
 */
SOLON_MUST_USE
solon_error *solon_partial_explain(const solon_partial *partial,
                                   const solon_request *request,
                                   solon_detail detail,
                                   solon_explanation **out);

/**
 * Frees a partial query that no thread uses any more; does nothing for NULL.
 */
void solon_partial_free(solon_partial *partial);

/**
 * Creates an empty profile.
 */
SOLON_MUST_USE solon_error *solon_profile_new(solon_profile **out);

/**
 * Returns the rows, slowest first, as JSON in OPA's format, and resets the profile. The snapshot supplies the file names; its
 * modules must be those that were evaluated.
 */
SOLON_MUST_USE
solon_error *solon_profile_json(solon_profile *profile,
                                const solon_snapshot *snapshot,
                                solon_bytes *out);

/**
 * Frees the profile; does nothing for NULL.
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
 * Evaluates the query for a request, which may be NULL, and returns all solutions in the order of evaluation.
 */
SOLON_MUST_USE
solon_error *solon_query_evaluate(const solon_query *query,
                                  const solon_request *request,
                                  solon_solutions **out);

/**
 * Evaluates the query for a request and returns all solutions as JSON: `[{"bindings": {"x": 1}, "values": [true]}]`. The values
 * are those of the expressions of the query.
 */
SOLON_MUST_USE
solon_error *solon_query_evaluate_json(const solon_query *query,
                                       const solon_request *request,
                                       solon_bytes *out);

/**
 * Evaluates the query for a request and explains the result, like `solon_document_explain`.
 */
SOLON_MUST_USE
solon_error *solon_query_explain(const solon_query *query,
                                 const solon_request *request,
                                 solon_detail detail,
                                 solon_explanation **out);

/**
 * Frees a query that no thread uses any more; does nothing for NULL.
 */
void solon_query_free(solon_query *query);

/**
 * Returns the number of bodies; if it is 0, the query cannot be true. 0 for NULL.
 */
size_t solon_residuals_query_count(const solon_residuals *residuals);

/**
 * Returns the text of a body, by its position from 0. An empty body is always true. For NULL and for a position without a body
 * it is `false`, which is never true. It lives as long as the residuals.
 */
solon_text solon_residuals_query(const solon_residuals *residuals,
                                 size_t index);

/**
 * Returns the number of modules; 0 for NULL.
 */
size_t solon_residuals_support_count(const solon_residuals *residuals);

/**
 * Returns the text of a module, by its position from 0. It lives as long as the residuals.
 */
solon_text solon_residuals_support(const solon_residuals *residuals, size_t index);

/**
 * Returns bodies and modules as syntax trees: `{"queries": […], "support": […]}`, in the format of OPA's compile API; empty for
 * NULL. It lives as long as the residuals.
 */
solon_text solon_residuals_json(const solon_residuals *residuals);

/**
 * Frees residuals; does nothing for NULL.
 */
void solon_residuals_free(solon_residuals *residuals);

/**
 * Returns the number of changes before the snapshot; 0 for NULL.
 */
uint64_t solon_snapshot_generation(const solon_snapshot *snapshot);

/**
 * Returns the data at a path. The value lives as long as the snapshot. Fails with `SOLON_ERROR_STORE` if there
 * is none.
 */
SOLON_MUST_USE
solon_error *solon_snapshot_get(const solon_snapshot *snapshot,
                                const char *path,
                                size_t path_length,
                                const solon_value **out);

/**
 * Frees a snapshot; does nothing for NULL.
 */
void solon_snapshot_free(solon_snapshot *snapshot);

/**
 * Returns the number of solutions; 0 for NULL.
 */
size_t solon_solutions_count(const solon_solutions *solutions);

/**
 * Returns the number of variables that a solution binds, which is the same for all solutions.
 */
size_t solon_solutions_binding_count(const solon_solutions *solutions);

/**
 * Returns the name of a variable by its position from 0; empty if there is none.
 */
solon_text solon_solutions_name(const solon_solutions *solutions, size_t position);

/**
 * Returns the value of a variable, by its name, in a solution; NULL if there is none.
 */
const solon_value *solon_solutions_binding(const solon_solutions *solutions,
                                           size_t index,
                                           const char *name,
                                           size_t name_length);

/**
 * Returns the value of an expression of the query, by its position from 0, in a solution; NULL if there is none.
 */
const solon_value *solon_solutions_value(const solon_solutions *solutions,
                                         size_t index,
                                         size_t expression);

/**
 * Frees solutions; does nothing for NULL.
 */
void solon_solutions_free(solon_solutions *solutions);

/**
 * Creates `null`.
 */
SOLON_MUST_USE solon_error *solon_value_null(solon_value **out);

/**
 * Creates a boolean: `false` for 0, `true` otherwise.
 */
SOLON_MUST_USE solon_error *solon_value_boolean(int boolean, solon_value **out);

/**
 * Creates an integer.
 */
SOLON_MUST_USE solon_error *solon_value_int(int64_t number, solon_value **out);

/**
 * Creates a number from the shortest decimal that parses to `number`, which must be finite.
 */
SOLON_MUST_USE solon_error *solon_value_double(double number, solon_value **out);

/**
 * Creates a number from its text in JSON syntax; it stays exact.
 */
SOLON_MUST_USE solon_error *solon_value_number(const char *text, size_t text_length, solon_value **out);

/**
 * Creates a string.
 */
SOLON_MUST_USE solon_error *solon_value_string(const char *text, size_t text_length, solon_value **out);

/**
 * Creates an array of values. The caller keeps them.
 */
SOLON_MUST_USE
solon_error *solon_value_array(const solon_value *const *items,
                               size_t item_count,
                               solon_value **out);

/**
 * Creates a set of values. The caller keeps them. Equal values are one member.
 */
SOLON_MUST_USE
solon_error *solon_value_set(const solon_value *const *items,
                             size_t item_count,
                             solon_value **out);

/**
 * Creates an object of `pair_count` keys and as many values. The caller keeps them. For equal keys the last value is used.
 */
SOLON_MUST_USE
solon_error *solon_value_object(const solon_value *const *keys,
                                const solon_value *const *values,
                                size_t pair_count,
                                solon_value **out);

/**
 * Parses JSON text.
 */
SOLON_MUST_USE solon_error *solon_value_from_json(const char *json, size_t json_length, solon_value **out);

/**
 * Parses YAML text, as OPA parses it.
 */
SOLON_MUST_USE solon_error *solon_value_from_yaml(const char *yaml, size_t yaml_length, solon_value **out);

/**
 * Returns an owned value that equals a value or a nested value; both share their contents.
 */
SOLON_MUST_USE solon_error *solon_value_clone(const solon_value *value, solon_value **out);

/**
 * Frees an owned value; does nothing for NULL.
 */
void solon_value_free(solon_value *value);

/**
 * Writes a value as JSON: sets become arrays, and keys that are not strings become their JSON text.
 */
SOLON_MUST_USE solon_error *solon_value_json(const solon_value *value, solon_bytes *out);

/**
 * Returns the kind of a value; `SOLON_KIND_UNDEFINED` for NULL.
 */
solon_kind solon_value_kind(const solon_value *value);

/**
 * Returns 1 if a value is `true`, and 0 for any other value or NULL.
 */
int solon_value_is_true(const solon_value *value);

/**
 * Returns the number of elements, members or pairs, or of the bytes of a string; 0 for anything else.
 */
size_t solon_value_length(const solon_value *value);

/**
 * Reads a number that is an integer and fits. Returns 1 if it does; otherwise returns 0 and leaves `out` untouched.
 */
int solon_value_to_int(const solon_value *value,
                       int64_t *out);

/**
 * Reads a number as the nearest `double`. Returns 1 if the value is a number; otherwise returns 0 and leaves `out` untouched.
 */
int solon_value_to_double(const solon_value *value,
                          double *out);

/**
 * Reads a string without a copy. Returns 1 if the value is a string; otherwise returns 0 and leaves `out` untouched. The text
 * lives as long as the value, and is UTF-8 unless a policy created it from bytes.
 */
int solon_value_to_text(const solon_value *value,
                        solon_text *out);

/**
 * Returns the element of an array, or the member of a set in sort order, at a position from 0; NULL beyond the end and for other
 * values.
 */
const solon_value *solon_value_item(const solon_value *value,
                                    size_t index);

/**
 * Returns the value of a string key in an object; NULL if there is none, and for other values.
 */
const solon_value *solon_value_get(const solon_value *value, const char *key, size_t key_length);

/**
 * Returns the value of a key in an object, the element at an index of an array, or the member of a set that equals `key`; NULL
 * if there is none.
 */
const solon_value *solon_value_lookup(const solon_value *value,
                                      const solon_value *key);

/**
 * Compares two values by Rego's order: returns less than 0, 0 or greater than 0. NULL sorts first.
 */
int solon_value_compare(const solon_value *left, const solon_value *right);

/**
 * Returns the version of the library in use, like `1.2.3`, NUL-terminated; it is valid forever.
 */
const char *solon_version(void);

/**
 * Returns the `SOLON_ABI` of the library in use. A program that was compiled with another one must not continue.
 */
uint32_t solon_abi(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* SOLON_H */
