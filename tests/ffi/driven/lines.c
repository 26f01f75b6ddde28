/* Drives the C API: reads a JSON request per line and writes a JSON result per line, as `tests/lines` specifies. Used for
 * OPA's cases and the recorded programs. */

#define _POSIX_C_SOURCE 200809L

#include "../c/check.h"
#include <stdbool.h>

enum { FIELDS = 8 };

/* A growable object. */
struct fields {
    solon_value *keys[FIELDS];
    solon_value *values[FIELDS];
    size_t count;
};

static solon_value *string(const char *text, size_t length) {
    solon_value *value = NULL;
    ok(solon_value_string(text, length, &value));
    return value;
}

/* Adds a field and takes ownership of the value. */
static void add(struct fields *fields, const char *name, solon_value *value) {
    CHECK(fields->count < FIELDS);
    fields->keys[fields->count] = string(S(name));
    fields->values[fields->count++] = value;
}

static solon_value *object(struct fields *fields) {
    solon_value *value = NULL;
    ok(solon_value_object((const solon_value *const *)fields->keys, (const solon_value *const *)fields->values,
                          fields->count, &value));
    for (size_t at = 0; at < fields->count; at++) {
        solon_value_free(fields->keys[at]);
        solon_value_free(fields->values[at]);
    }
    fields->count = 0;
    return value;
}

/* Creates an array and takes ownership of the values. */
static solon_value *array(solon_value **items, size_t count) {
    solon_value *value = NULL;
    ok(solon_value_array((const solon_value *const *)items, count, &value));
    for (size_t at = 0; at < count; at++) {
        solon_value_free(items[at]);
    }
    free(items);
    return value;
}

static solon_value **list(size_t count) {
    solon_value **items = calloc(count + 1, sizeof *items);
    CHECK(items != NULL);
    return items;
}

/* Printed lines. */
struct printed {
    char *text;
    size_t length;
};

static void hear(void *userdata, const char *line, size_t length) {
    struct printed *printed = userdata;
    printed->text = realloc(printed->text, printed->length + length + 1);
    CHECK(printed->text != NULL);
    memcpy(printed->text + printed->length, line, length);
    printed->length += length;
    printed->text[printed->length++] = '\n';
}

static const solon_value *field(const solon_value *line, const char *name) {
    return solon_value_get(line, S(name));
}

static bool flag(const solon_value *line, const char *name) {
    return solon_value_is_true(field(line, name)) == 1;
}

static solon_text text_of(const solon_value *value) {
    solon_text text = {"", 0};
    (void)solon_value_to_text(value, &text);
    return text;
}

/* A request and its result. */
struct asked {
    const solon_value *line;
    struct printed printed;
    struct fields answer;
};

static solon_error *set_up(const solon_value *line, solon_engine **engine) {
    solon_options options = {.size = sizeof options, .host = SOLON_HOST_FIXED};
    options.rego = flag(line, "v0") ? SOLON_REGO_V0 : SOLON_REGO_DEFAULT;
    options.strict = flag(line, "strict");
    options.allow_base_conflicts = flag(line, "allow_base_conflicts");
    (void)solon_value_to_int(field(line, "now_ns"), &options.now_ns);
    ok(solon_engine_new(&options, engine));

    solon_change *change = NULL;
    ok(solon_change_new(&change));
    solon_error *error = NULL;
    if (solon_value_kind(field(line, "modules")) == SOLON_KIND_OBJECT) {
        solon_pairs *modules = NULL;
        const solon_value *name, *text;
        ok(solon_pairs_new(field(line, "modules"), &modules));
        while (solon_pairs_next(modules, &name, &text)) {
            solon_text key = text_of(name), source = text_of(text);
            ok(solon_change_set_module(change, key.data, key.length, source.data, source.length, SOLON_REGO_DEFAULT));
        }
        solon_pairs_free(modules);
    }
    if (field(line, "data") != NULL) {
        ok(solon_change_put(change, "", 0, field(line, "data")));
    }
    error = solon_engine_apply(*engine, change, NULL);
    solon_change_free(change);
    return error;
}

/* Creates the input, which may be a term. */
static solon_error *input_of(const solon_value *line, solon_value **input) {
    const solon_value *term = field(line, "input_term");
    if (solon_value_kind(term) != SOLON_KIND_STRING) {
        return field(line, "input") == NULL ? NULL : solon_value_clone(field(line, "input"), input);
    }
    solon_engine *engine = NULL;
    solon_query *query = NULL;
    solon_solutions *solutions = NULL;
    solon_text text = text_of(term);
    ok(solon_engine_new(NULL, &engine));
    solon_error *error = solon_engine_prepare_query(engine, text.data, text.length, NULL, &query);
    if (error == NULL) {
        error = solon_query_evaluate(query, NULL, &solutions);
    }
    if (error == NULL && solon_solutions_count(solutions) > 0) {
        ok(solon_value_clone(solon_solutions_value(solutions, 0, 0), input));
    }
    solon_solutions_free(solutions);
    solon_query_free(query);
    solon_engine_free(engine);
    return error;
}

static void tell_solutions(struct asked *asked, const solon_solutions *solutions) {
    size_t count = solon_solutions_count(solutions), names = solon_solutions_binding_count(solutions);
    if (count == 0) {
        return;
    }
    solon_value **rows = list(count), **values = list(count);
    for (size_t at = 0; at < count; at++) {
        solon_value **keys = list(names), **bound = list(names);
        for (size_t name = 0; name < names; name++) {
            solon_text text = solon_solutions_name(solutions, name);
            keys[name] = string(text.data, text.length);
            ok(solon_value_clone(solon_solutions_binding(solutions, at, text.data, text.length), &bound[name]));
        }
        ok(solon_value_object((const solon_value *const *)keys, (const solon_value *const *)bound, names, &rows[at]));
        solon_value_free(array(keys, names));
        solon_value_free(array(bound, names));
        size_t expressions = 0;
        while (solon_solutions_value(solutions, at, expressions) != NULL) {
            expressions++;
        }
        solon_value **row = list(expressions);
        for (size_t expression = 0; expression < expressions; expression++) {
            ok(solon_value_clone(solon_solutions_value(solutions, at, expression), &row[expression]));
        }
        values[at] = array(row, expressions);
    }
    add(&asked->answer, "bindings", array(rows, count));
    add(&asked->answer, "values", array(values, count));
}

static void tell_texts(struct asked *asked, const char *name, const solon_residuals *residuals, size_t count,
                       solon_text (*text)(const solon_residuals *, size_t)) {
    if (count == 0) {
        return;
    }
    solon_value **items = list(count);
    for (size_t at = 0; at < count; at++) {
        solon_text one = text(residuals, at);
        items[at] = string(one.data, one.length);
    }
    add(&asked->answer, name, array(items, count));
}

/* Serializes a list of strings as JSON, for an option. */
static solon_bytes strings(const solon_value *list) {
    solon_bytes json = {NULL, 0};
    if (solon_value_kind(list) == SOLON_KIND_ARRAY) {
        ok(solon_value_json(list, &json));
    }
    return json;
}

static solon_error *ask_partial(struct asked *asked, const solon_engine *engine, const solon_request *request) {
    const solon_value *line = asked->line;
    solon_text text = text_of(field(line, "query")), package = text_of(field(line, "partial_namespace"));
    solon_bytes unknowns = strings(field(line, "unknowns")), disabled = strings(field(line, "disable_inlining"));
    solon_partial_options options = {.size = sizeof options};
    options.unknowns_json = unknowns.data;
    options.unknowns_json_length = unknowns.length;
    options.disable_inlining_json = disabled.data;
    options.disable_inlining_json_length = disabled.length;
    options.shallow_inlining = flag(line, "shallow_inlining");
    options.nondeterministic_builtins = flag(line, "nondeterministic_builtins");
    options.skip_namespace = flag(line, "skip_partial_namespace");
    if (solon_value_kind(field(line, "partial_namespace")) == SOLON_KIND_STRING) {
        options.package = package.data;
        options.package_length = package.length;
    }
    solon_partial *partial = NULL;
    solon_residuals *residuals = NULL;
    solon_error *error = solon_engine_prepare_partial(engine, text.data, text.length, &options, NULL, &partial);
    if (error == NULL) {
        error = solon_partial_evaluate(partial, request, &residuals);
    }
    if (error == NULL) {
        tell_texts(asked, "queries", residuals, solon_residuals_query_count(residuals), solon_residuals_query);
        tell_texts(asked, "support", residuals, solon_residuals_support_count(residuals), solon_residuals_support);
    }
    solon_residuals_free(residuals);
    solon_partial_free(partial);
    solon_bytes_free(unknowns);
    solon_bytes_free(disabled);
    return error;
}

/* Writes the explanation, as lines or as events. */
static solon_error *tell_trace(struct asked *asked, const solon_explanation *explanation) {
    solon_bytes bytes = {NULL, 0};
    solon_error *error = NULL;
    if (flag(asked->line, "explain_json")) {
        solon_value *events = NULL;
        error = solon_explanation_json(explanation, &bytes);
        if (error == NULL) {
            ok(solon_value_from_json(bytes.data, bytes.length, &events));
            add(&asked->answer, "events", events);
        }
        solon_bytes_free(bytes);
        return error;
    }
    error = solon_explanation_text(explanation, 0, 0, &bytes);
    if (error != NULL) {
        return error;
    }
    size_t count = 0;
    for (size_t at = 0; at < bytes.length; at++) {
        count += bytes.data[at] == '\n';
    }
    solon_value **lines = list(count + 1);
    size_t start = 0, line = 0;
    for (size_t at = 0; at < bytes.length; at++) {
        if (bytes.data[at] == '\n') {
            lines[line++] = string(bytes.data + start, at - start);
            start = at + 1;
        }
    }
    if (count == 0) {
        lines[count++] = string("", 0);
    }
    add(&asked->answer, "trace", array(lines, count));
    solon_bytes_free(bytes);
    return NULL;
}

static solon_error *ask_query(struct asked *asked, const solon_engine *engine, const solon_request *request) {
    solon_text text = text_of(field(asked->line, "query")), explain = text_of(field(asked->line, "explain"));
    const struct {
        const char *name;
        int detail;
    } details[] = {{"full", SOLON_DETAIL_FULL},
                   {"debug", SOLON_DETAIL_DEBUG},
                   {"fails", SOLON_DETAIL_FAILS},
                   {"notes", SOLON_DETAIL_NOTES}};
    solon_query *query = NULL;
    solon_solutions *solutions = NULL;
    solon_error *error = solon_engine_prepare_query(engine, text.data, text.length, NULL, &query);
    if (error != NULL) {
        return error;
    }
    solon_explanation *explanation = NULL;
    for (size_t at = 0; at < sizeof details / sizeof *details; at++) {
        if (is_text(explain.data, explain.length, details[at].name)) {
            error = solon_query_explain(query, request, details[at].detail, &explanation);
        }
    }
    if (explanation != NULL) {
        error = solon_explanation_solutions(explanation, &solutions);
        if (error == NULL) {
            error = tell_trace(asked, explanation);
        }
    } else if (error == NULL) {
        error = solon_query_evaluate(query, request, &solutions);
    }
    if (error == NULL) {
        tell_solutions(asked, solutions);
    }
    solon_solutions_free(solutions);
    solon_explanation_free(explanation);
    solon_query_free(query);
    return error;
}

static solon_error *ask(struct asked *asked, solon_engine **engine) {
    solon_value *input = NULL;
    solon_error *error = set_up(asked->line, engine);
    if (error == NULL) {
        error = input_of(asked->line, &input);
    }
    if (error == NULL) {
        solon_request request = {.size = sizeof request, .input = input, .print = hear, .print_userdata = &asked->printed};
        request.strict_builtin_errors = flag(asked->line, "strict_builtin_errors");
        error = flag(asked->line, "partial") ? ask_partial(asked, *engine, &request)
                                             : ask_query(asked, *engine, &request);
    }
    solon_value_free(input);
    return error;
}

static void tell_error(struct asked *asked, solon_error *error) {
    size_t count = solon_error_count(error);
    solon_value **entries = list(count);
    solon_error_entry entry;
    for (size_t at = 0; at < count; at++) {
        CHECK(solon_error_entry_at(error, at, &entry) == 1);
        struct fields fields = {.count = 0};
        add(&fields, "code", string(entry.code.data, entry.code.length));
        add(&fields, "message", string(entry.message.data, entry.message.length));
        if (entry.row > 0) {
            solon_value *row = NULL, *column = NULL;
            ok(solon_value_int(entry.row, &row));
            ok(solon_value_int(entry.column, &column));
            add(&fields, "file", string(entry.file.data, entry.file.length));
            add(&fields, "row", row);
            add(&fields, "col", column);
        }
        entries[at] = object(&fields);
    }
    add(&asked->answer, "errors", array(entries, count));
    solon_error_free(error);
}

static void answer(const char *line, size_t length) {
    solon_value *read = NULL;
    solon_engine *engine = NULL;
    struct asked asked = {NULL, {NULL, 0}, {.count = 0}};
    solon_error *error = solon_value_from_json(line, length, &read);
    if (error == NULL) {
        asked.line = read;
        error = ask(&asked, &engine);
    }
    if (error != NULL) {
        while (asked.answer.count > 0) {
            asked.answer.count--;
            solon_value_free(asked.answer.keys[asked.answer.count]);
            solon_value_free(asked.answer.values[asked.answer.count]);
        }
        tell_error(&asked, error);
    }
    if (asked.printed.length > 0) {
        add(&asked.answer, "prints", string(asked.printed.text, asked.printed.length));
    }
    solon_value *told = object(&asked.answer);
    solon_bytes json = {NULL, 0};
    ok(solon_value_json(told, &json));
    fwrite(json.data, 1, json.length, stdout);
    putchar('\n');
    fflush(stdout);
    solon_bytes_free(json);
    solon_value_free(told);
    solon_value_free(read);
    solon_engine_free(engine);
    free(asked.printed.text);
}

int main(void) {
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length = 0;
    while ((length = getline(&line, &capacity, stdin)) > 0) {
        answer(line, (size_t)length);
    }
    free(line);
    return 0;
}
