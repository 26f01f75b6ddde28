/* Values: created, read and compared. */

#include "check.h"

static solon_value *string(const char *text) {
    solon_value *value = NULL;
    ok(solon_value_string(S(text), &value));
    return value;
}

static void scalars(void) {
    solon_value *value = NULL;
    int64_t whole = 7;
    double number = 7;
    solon_text text = {NULL, 0};

    ok(solon_value_null(&value));
    CHECK(solon_value_kind(value) == SOLON_KIND_NULL);
    CHECK(is_own_json(value, "null"));
    ok(solon_value_boolean(2, &value));
    CHECK(solon_value_is_true(value) == 1);
    CHECK(solon_value_to_int(value, &whole) == 0 && whole == 7);
    CHECK(is_own_json(value, "true"));
    ok(solon_value_boolean(0, &value));
    CHECK(solon_value_is_true(value) == 0 && solon_value_kind(value) == SOLON_KIND_BOOLEAN);
    CHECK(is_own_json(value, "false"));

    ok(solon_value_int(INT64_MIN, &value));
    CHECK(solon_value_to_int(value, &whole) == 1 && whole == INT64_MIN);
    CHECK(solon_value_to_double(value, &number) == 1 && number == -9223372036854775808.0);
    CHECK(is_own_json(value, "-9223372036854775808"));
    ok(solon_value_double(0.1, &value));
    CHECK(solon_value_to_double(value, &number) == 1 && number == 0.1);
    CHECK(solon_value_to_int(value, &whole) == 0);
    CHECK(is_own_json(value, "0.1"));
    /* numbers are exact, however large */
    ok(solon_value_number(S("123456789012345678901234567890.50"), &value));
    CHECK(solon_value_kind(value) == SOLON_KIND_NUMBER && solon_value_to_int(value, &whole) == 0);
    CHECK(is_own_json(value, "123456789012345678901234567890.50"));
    CHECK(code_of(solon_value_number(S("1x"), &value)) == SOLON_ERROR_ARGUMENT);
    CHECK(code_of(solon_value_number(S(""), &value)) == SOLON_ERROR_ARGUMENT);
    double zero = 0;
    CHECK(code_of(solon_value_double(zero / zero, &value)) == SOLON_ERROR_ARGUMENT);
    CHECK(code_of(solon_value_double(1 / zero, &value)) == SOLON_ERROR_ARGUMENT);

    /* short strings are stored in the value, long ones on the heap, and NUL is a character */
    ok(solon_value_string("a\0b", 3, &value));
    CHECK(solon_value_to_text(value, &text) == 1 && text.length == 3 && memcmp(text.data, "a\0b", 3) == 0);
    CHECK(solon_value_length(value) == 3);
    CHECK(is_own_json(value, "\"a\\u0000b\""));
    value = string("a string that is longer than any word");
    CHECK(solon_value_to_text(value, &text) == 1 && is_text(text.data, text.length, "a string that is longer than any word"));
    solon_value_free(value);
    value = string("");
    CHECK(solon_value_to_text(value, &text) == 1 && text.length == 0 && text.data != NULL);
    solon_value_free(value);
    CHECK(code_of(solon_value_string("\xc3", 1, &value)) == SOLON_ERROR_ARGUMENT);
}

static void compounds(void) {
    solon_value *one = NULL, *two = NULL, *array = NULL, *set = NULL, *object = NULL;
    ok(solon_value_int(1, &one));
    ok(solon_value_int(2, &two));
    const solon_value *items[] = {two, one, two};
    ok(solon_value_array(items, 3, &array));
    ok(solon_value_set(items, 3, &set));
    CHECK(solon_value_kind(array) == SOLON_KIND_ARRAY && solon_value_length(array) == 3);
    CHECK(solon_value_kind(set) == SOLON_KIND_SET && solon_value_length(set) == 2);
    CHECK(is_json(array, "[2,1,2]") && is_json(set, "[1,2]"));
    CHECK(solon_value_compare(solon_value_item(array, 0), two) == 0);
    CHECK(solon_value_compare(solon_value_item(set, 0), one) == 0);
    CHECK(solon_value_item(array, 3) == NULL && solon_value_item(one, 0) == NULL);
    CHECK(solon_value_lookup(set, two) != NULL && solon_value_lookup(set, array) == NULL);
    CHECK(solon_value_compare(solon_value_lookup(array, one), one) == 0);
    CHECK(solon_value_lookup(array, array) == NULL);

    /* keys may be of any kind; for equal keys the last value is used */
    solon_value *name = string("name");
    const solon_value *keys[] = {name, array, name};
    const solon_value *values[] = {one, set, two};
    ok(solon_value_object(keys, values, 3, &object));
    CHECK(solon_value_length(object) == 2);
    CHECK(solon_value_compare(solon_value_get(object, S("name")), two) == 0);
    CHECK(solon_value_get(object, S("nam")) == NULL && solon_value_get(array, S("name")) == NULL);
    CHECK(solon_value_compare(solon_value_lookup(object, array), set) == 0);

    solon_pairs *pairs = NULL;
    const solon_value *key = NULL, *value = NULL;
    ok(solon_pairs_new(object, &pairs));
    CHECK(solon_pairs_next(pairs, &key, &value) == 1);
    CHECK(solon_value_compare(key, name) == 0 && solon_value_compare(value, two) == 0);
    CHECK(solon_pairs_next(pairs, &key, &value) == 1);
    CHECK(solon_value_compare(key, array) == 0 && solon_value_compare(value, set) == 0);
    CHECK(solon_pairs_next(pairs, &key, &value) == 0);
    CHECK(solon_pairs_next(pairs, &key, &value) == 0 && solon_value_compare(key, array) == 0);
    solon_pairs_free(pairs);
    ok(solon_pairs_new(array, &pairs));
    CHECK(solon_pairs_next(pairs, &key, &value) == 0);
    solon_pairs_free(pairs);

    /* a nested value is borrowed, a clone is owned; nested values of containers outlive the values they were built from */
    solon_value *part = NULL;
    ok(solon_value_clone(solon_value_lookup(object, array), &part));
    solon_value_free(object);
    solon_value_free(set);
    solon_value_free(one);
    solon_value_free(two);
    solon_value_free(name);
    CHECK(is_json(array, "[2,1,2]"));
    solon_value_free(array);
    CHECK(is_own_json(part, "[1,2]"));

    ok(solon_value_array(NULL, 0, &array));
    CHECK(is_own_json(array, "[]"));
    ok(solon_value_object(NULL, NULL, 0, &object));
    CHECK(is_own_json(object, "{}"));
    const solon_value *missing[] = {NULL};
    CHECK(code_of(solon_value_array(missing, 1, &array)) == SOLON_ERROR_ARGUMENT);
    CHECK(code_of(solon_value_array(items, SIZE_MAX / 4, &array)) == SOLON_ERROR_ARGUMENT);
}

/* a large object is sorted, too */
static void large(void) {
    char *json = malloc(1 << 20);
    size_t length = 0;
    CHECK(json != NULL);
    json[length++] = '{';
    for (int i = 0; i < 20000; i++) {
        length += (size_t)sprintf(json + length, "%s\"k%05d\":%d", i == 0 ? "" : ",", i, i);
    }
    json[length++] = '}';
    solon_value *object = NULL;
    ok(solon_value_from_json(json, length, &object));
    free(json);
    solon_pairs *pairs = NULL;
    const solon_value *key = NULL, *value = NULL;
    ok(solon_pairs_new(object, &pairs));
    int64_t at = 0, number = 0;
    while (solon_pairs_next(pairs, &key, &value) == 1) {
        CHECK(solon_value_to_int(value, &number) == 1 && number == at);
        at++;
    }
    CHECK(at == 20000);
    solon_pairs_free(pairs);
    solon_value_free(object);
}

int main(void) {
    scalars();
    compounds();
    large();
    solon_value *value = NULL;
    ok(solon_value_from_yaml(S("a: [1, yes]\nb: 0777\n"), &value));
    CHECK(is_own_json(value, "{\"a\":[1,\"yes\"],\"b\":511}"));
    CHECK(code_of(solon_value_from_yaml(S("a: ["), &value)) == SOLON_ERROR_INPUT);
    solon_error *error = solon_value_from_json(S("{\n  \"a\": x}"), &value);
    solon_error_entry entry;
    CHECK(solon_error_code(error) == SOLON_ERROR_INPUT && solon_error_count(error) == 1);
    CHECK(solon_error_entry_at(error, 0, &entry) == 1 && entry.row == 2 && entry.column == 8);
    solon_error_free(error);
    /* NULL is undefined, which sorts first */
    CHECK(solon_value_kind(NULL) == SOLON_KIND_UNDEFINED && solon_value_length(NULL) == 0);
    ok(solon_value_null(&value));
    CHECK(solon_value_compare(NULL, value) < 0 && solon_value_compare(value, NULL) > 0);
    CHECK(solon_value_compare(NULL, NULL) == 0);
    solon_value_free(value);
    solon_value_free(NULL);
    solon_pairs_free(NULL);
    return 0;
}
