/* A decision that is `true` or `false` allocates no heap memory: allocations are counted by functions that replace those of
 * glibc. */

#include "../c/check.h"

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *pointer, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static long allocations = 0;

void *malloc(size_t size) {
    allocations++;
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    allocations++;
    return __libc_calloc(count, size);
}

void *realloc(void *pointer, size_t size) {
    allocations++;
    return __libc_realloc(pointer, size);
}

int posix_memalign(void **out, size_t alignment, size_t size) {
    allocations++;
    *out = __libc_memalign(alignment, size);
    return *out == NULL ? 12 : 0;
}

static const char *POLICY = "package authz\n"
                            "default allow := false\n"
                            "allow if input.user == data.owner\n"
                            "allow if {\n"
                            "    some role in data.roles[input.user]\n"
                            "    some permission in data.permissions[role]\n"
                            "    permission.action == input.action\n"
                            "    startswith(input.path, permission.prefix)\n"
                            "}\n";

static const char *DATA = "{\"owner\": \"root\", \"roles\": {\"alice\": [\"reader\"]},"
                          " \"permissions\": {\"reader\": [{\"action\": \"read\", \"prefix\": \"/docs/\"}]}}";

/* Returns the number of allocations of a thousand decisions, after a few to warm up. */
static long taken(const solon_document *document, const char *input, bool answer) {
    size_t length = strlen(input);
    bool allowed = !answer;
    for (int i = 0; i < 100; i++) {
        CHECK(solon_document_allow(document, input, length, &allowed) == NULL && allowed == answer);
    }
    long before = allocations;
    for (int i = 0; i < 1000; i++) {
        CHECK(solon_document_allow(document, input, length, &allowed) == NULL && allowed == answer);
    }
    if (allocations > before) {
        fprintf(stderr, "%ld allocations for %s\n", allocations - before, input);
    }
    return allocations - before;
}

int main(void) {
    solon_engine *engine = NULL;
    solon_document *document = NULL;
    ok(solon_engine_new(NULL, &engine));
    ok(set_module(engine, "authz.rego", POLICY));
    ok(set_data(engine, DATA));
    ok(solon_engine_prepare(engine, S("authz/allow"), &document));
    CHECK(allocations > 0);
    CHECK(taken(document, "{\"user\": \"root\"}", true) == 0);
    CHECK(taken(document, "{\"user\": \"alice\", \"action\": \"read\", \"path\": \"/docs/a\"}", true) == 0);
    CHECK(taken(document, "{\"user\": \"alice\", \"action\": \"write\", \"path\": \"/docs/a\"}", false) == 0);
    CHECK(taken(document, "{\"user\": \"nobody\", \"action\": \"read\", \"path\": \"/docs/a\"}", false) == 0);
    solon_document_free(document);
    solon_engine_free(engine);
    return 0;
}
