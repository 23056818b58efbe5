/* The practical limit: one compiled pass that frames, decodes and groups every scalar of event files. No checksums, no
   bounds checks, simple_value only, the whole file in memory: what a reader could not be much faster than.

   Usage: limit FILE...   prints the number of scalars, of tags in the last file, and the seconds taken (best of 3). */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef const unsigned char *Bytes;

enum { SLOTS = 65536 };
static struct {
    Bytes tag;
    uint32_t size;
    int number;
} table[SLOTS];
static int tags;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

static uint64_t varint(Bytes *p) {
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
        unsigned char byte = *(*p)++;
        value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) return value;
    }
}

static void skip(Bytes *p, int kind) {
    if (kind == 0) {
        varint(p);
    } else if (kind == 1) {
        *p += 8;
    } else if (kind == 5) {
        *p += 4;
    } else {
        uint64_t size = varint(p);
        *p += size;
    }
}

/* The number of a tag. */
static int intern(Bytes tag, uint32_t size) {
    uint64_t hash = 1469598103934665603ull;
    uint32_t i = 0;
    for (; i + 8 <= size; i += 8) {
        uint64_t word;
        memcpy(&word, tag + i, 8);
        hash = (hash ^ word) * 0x9E3779B97F4A7C15ull;
        hash ^= hash >> 29;
    }
    for (; i < size; i++) hash = (hash ^ tag[i]) * 1099511628211ull;
    uint32_t slot = (hash >> 20) & (SLOTS - 1);
    while (table[slot].tag) {
        if (table[slot].size == size && !memcmp(table[slot].tag, tag, size)) return table[slot].number;
        slot = (slot + 1) & (SLOTS - 1);
    }
    table[slot].tag = tag;
    table[slot].size = size;
    return table[slot].number = tags++;
}

typedef struct {
    size_t rows;
    double *wall_time;
    int64_t *step;
    float *value;
    int32_t *tag;
} Columns;

static void decode_value(Bytes p, Bytes end, double wall_time, int64_t step, Columns *out) {
    Bytes tag = 0;
    uint32_t size = 0;
    int found = 0;
    float value = 0;
    while (p < end) {
        uint64_t key = varint(&p);
        if (key == (1 << 3 | 2)) {
            size = varint(&p);
            tag = p;
            p += size;
        } else if (key == (2 << 3 | 5)) {
            memcpy(&value, p, 4);
            p += 4;
            found = 1;
        } else {
            skip(&p, key & 7);
        }
    }
    if (found) {
        size_t i = out->rows++;
        out->wall_time[i] = wall_time;
        out->step[i] = step;
        out->value[i] = value;
        out->tag[i] = intern(tag, size);
    }
}

static void decode_summary(Bytes p, Bytes end, double wall_time, int64_t step, Columns *out) {
    while (p < end) {
        uint64_t key = varint(&p);
        if (key == (1 << 3 | 2)) {
            uint64_t size = varint(&p);
            decode_value(p, p + size, wall_time, step, out);
            p += size;
        } else {
            skip(&p, key & 7);
        }
    }
}

static void decode_event(Bytes p, Bytes end, Columns *out) {
    double wall_time = 0;
    int64_t step = 0;
    while (p < end) {
        uint64_t key = varint(&p);
        if (key == (1 << 3 | 1)) {
            memcpy(&wall_time, p, 8);
            p += 8;
        } else if (key == (2 << 3 | 0)) {
            step = varint(&p);
        } else if (key == (5 << 3 | 2)) {
            uint64_t size = varint(&p);
            decode_summary(p, p + size, wall_time, step, out);
            p += size;
        } else {
            skip(&p, key & 7);
        }
    }
}

static size_t read_file(const char *path) {
    memset(table, 0, sizeof table);
    tags = 0;
    FILE *file = fopen(path, "rb");
    if (!file) exit(1);
    fseek(file, 0, SEEK_END);
    size_t size = ftell(file), capacity = size / 24 + 1;
    rewind(file);
    unsigned char *content = malloc(size + 16);
    if (fread(content, 1, size, file) != size) exit(1);
    fclose(file);
    Columns out = {0, malloc(capacity * 8), malloc(capacity * 8), malloc(capacity * 4), malloc(capacity * 4)};
    for (size_t at = 0; at + 16 <= size;) {
        uint64_t length;
        memcpy(&length, content + at, 8);
        if (length > size - at - 16) break;
        decode_event(content + at + 12, content + at + 12 + length, &out);
        at += 16 + length;
    }
    free(content);
    free(out.wall_time);
    free(out.step);
    free(out.value);
    free(out.tag);
    return out.rows;
}

int main(int count, char **words) {
    double best = 1e9;
    size_t rows = 0;
    for (int turn = 0; turn < 3; turn++) {
        double start = now();
        rows = 0;
        for (int i = 1; i < count; i++) rows += read_file(words[i]);
        double seconds = now() - start;
        if (seconds < best) best = seconds;
    }
    printf("scalars %zu tags %d seconds %.4f\n", rows, tags, best);
    return 0;
}
