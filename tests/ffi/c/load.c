/* Modules and data from files. */

#define _POSIX_C_SOURCE 200809L

#include "check.h"
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/solon-load-XXXXXX";
static char path[4][128];

static void write_file(char *name, const char *file, const char *text) {
    snprintf(name, 128, "%s/%s", folder, file);
    FILE *out = fopen(name, "w");
    CHECK(out != NULL && fputs(text, out) >= 0 && fclose(out) == 0);
}

int main(void) {
    solon_engine *engine = NULL;
    solon_change *change = NULL;
    solon_bytes bytes = {NULL, 0};
    CHECK(mkdtemp(folder) != NULL);
    snprintf(path[0], sizeof path[0], "%s/roles", folder);
    CHECK(mkdir(path[0], 0700) == 0);
    write_file(path[1], "p.rego", "package p\nallow if data.roles.admin == input.user");
    write_file(path[2], "roles/data.json", "{\"admin\": \"alice\"}");
    ok(solon_engine_new(NULL, &engine));
    ok(solon_change_new(&change));

    solon_text paths[] = {{folder, strlen(folder)}};
    ok(solon_engine_load(engine, paths, 1, 0));
    ok(evaluate(engine, "p/allow", "{\"user\": \"alice\"}", &bytes));
    CHECK(is_bytes(bytes, "true"));

    /* into a change, without the ignored files */
    write_file(path[2], "roles/data.json", "{\"admin\": \"bob\"}");
    write_file(path[3], "broken.json", "{");
    CHECK(code_of(solon_engine_load(engine, paths, 1, 0)) == SOLON_ERROR_LOAD);
    CHECK(code_of(solon_change_load(change, engine, paths, 1, NULL, 0, 0)) == SOLON_ERROR_LOAD);
    ok(solon_change_load(change, engine, paths, 1, S("[\"broken.json\"]"), 0));
    ok(evaluate(engine, "roles/admin", NULL, &bytes));
    CHECK(is_bytes(bytes, "\"alice\""));
    ok(solon_engine_apply(engine, change, NULL));
    ok(evaluate(engine, "roles/admin", NULL, &bytes));
    CHECK(is_bytes(bytes, "\"bob\""));

    solon_text none[] = {{"/no/such/folder", 15}};
    solon_error *error = solon_engine_load(engine, none, 1, 0);
    CHECK(solon_error_code(error) == SOLON_ERROR_LOAD && solon_error_count(error) == 1);
    solon_error_free(error);
    ok(solon_engine_load(engine, NULL, 0, 0));

    for (int at = 1; at < 4; at++) {
        CHECK(unlink(path[at]) == 0);
    }
    CHECK(rmdir(path[0]) == 0 && rmdir(folder) == 0);
    solon_change_free(change);
    solon_engine_free(engine);
    return 0;
}
