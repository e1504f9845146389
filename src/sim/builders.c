/* Topologies by name. */
#include "sim/topology.h"

#include "base/error.h"

#include <math.h>
#include <string.h>

static const char allowed[] =
    "p2p, ring-N, full-N, star-N, mesh-2d-AxB, torus-2d-AxB, torus-3d-AxBxC, fat-tree-kK, "
    "fat-tree-2l-Lx-Hy-Sz, dragonfly-pP-aA-hH";

/* Match name against a pattern in which '#' stands for a decimal number; false when it differs. */
static bool match(const char *name, const char *pattern, uint32_t *numbers)
{
    for (; *pattern; pattern++) {
        if (*pattern != '#') {
            if (*name++ != *pattern) return false;
            continue;
        }
        const char *start = name;
        uint64_t value = 0;
        while (*name >= '0' && *name <= '9' && value < MRD__SIM_MAX_LINKS)
            value = value * 10 + (uint64_t)(*name++ - '0');
        if (name == start) return false;
        *numbers++ = (uint32_t)value;
    }
    return *name == '\0';
}

static const struct form {
    const char *pattern;
    mrd__sim_shape_kind kind;
    uint32_t count;
    bool wrap;
} forms[] = {
    {"ring-#", MRD__SIM_SHAPE_GRID, 1, true},
    {"full-#", MRD__SIM_SHAPE_FULL, 1, false},
    {"star-#", MRD__SIM_SHAPE_STAR, 1, false},
    {"mesh-2d-#x#", MRD__SIM_SHAPE_GRID, 2, false},
    {"torus-2d-#x#", MRD__SIM_SHAPE_GRID, 2, true},
    {"torus-3d-#x#x#", MRD__SIM_SHAPE_GRID, 3, true},
    {"fat-tree-k#", MRD__SIM_SHAPE_FAT_TREE, 1, false},
    {"fat-tree-2l-l#-h#-s#", MRD__SIM_SHAPE_FAT_TREE_2L, 3, false},
    {"dragonfly-p#-a#-h#", MRD__SIM_SHAPE_DRAGONFLY, 3, false},
};

/* Chips and nodes of a shape. */
static void sizes(const mrd__sim_shape *shape, uint64_t *chips, uint64_t *nodes)
{
    uint64_t a = shape->dims[0], b = shape->dims[1], c = shape->dims[2];
    *chips = *nodes = 0;
    switch (shape->kind) {
    case MRD__SIM_SHAPE_GRID:
        *chips = *nodes = a * (shape->dim_count > 1 ? b : 1) * (shape->dim_count > 2 ? c : 1);
        break;
    case MRD__SIM_SHAPE_FULL:
        *chips = *nodes = a;
        break;
    case MRD__SIM_SHAPE_STAR:
        *chips = a;
        *nodes = a + 1;
        break;
    case MRD__SIM_SHAPE_FAT_TREE:
        *chips = a * a * a / 4;
        *nodes = *chips + 5 * a * a / 4;
        break;
    case MRD__SIM_SHAPE_FAT_TREE_2L:
        *chips = a * b;
        *nodes = *chips + a + c;
        break;
    case MRD__SIM_SHAPE_DRAGONFLY:
        *chips = (b * c + 1) * a * b;
        *nodes = *chips + (b * c + 1) * b;
        break;
    case MRD__SIM_SHAPE_GRAPH:
        break;
    }
}

mrd_status mrd__sim_shape_parse(mrd__sim_shape *shape, const char *name, mrd_error *error)
{
    *shape = (mrd__sim_shape){0};
    const struct form *form = NULL;
    if (strcmp(name, "p2p") == 0) {
        *shape = (mrd__sim_shape){MRD__SIM_SHAPE_GRID, {2, 0, 0}, 1, false};
        return MRD_OK;
    }
    for (size_t i = 0; i < sizeof forms / sizeof *forms && !form; i++)
        if (match(name, forms[i].pattern, shape->dims)) form = &forms[i];
    if (!form)
        return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_spec", "topology: \"%s\" is not one of %s",
                         name, allowed);
    shape->kind = form->kind;
    shape->dim_count = form->count;
    shape->wrap = form->wrap;
    for (uint32_t i = 0; i < form->count; i++)
        if (shape->dims[i] < 1 || shape->dims[i] > MRD__SIM_MAX_NODES)
            return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_spec",
                             "topology: number %u in \"%s\" is %u, allowed 1..%d", i + 1, name,
                             shape->dims[i], MRD__SIM_MAX_NODES);
    if (form->kind == MRD__SIM_SHAPE_FAT_TREE && shape->dims[0] % 2)
        return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_spec",
                         "topology: K of \"%s\" is odd, allowed: even", name);
    uint64_t chips, nodes;
    sizes(shape, &chips, &nodes);
    if (chips < 2 || nodes > MRD__SIM_MAX_NODES ||
        (form->kind == MRD__SIM_SHAPE_FULL && chips * (chips - 1) > MRD__SIM_MAX_LINKS))
        return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_spec",
                         "topology: \"%s\" has %llu chips and %llu nodes, allowed 2 chips to %d "
                         "nodes and %u links",
                         name, (unsigned long long)chips, (unsigned long long)nodes,
                         MRD__SIM_MAX_NODES, MRD__SIM_MAX_LINKS);
    return MRD_OK;
}

/* What all links of one builder share. */
typedef struct wires {
    mrd__sim_topology *topology;
    double bandwidth, latency;
} wires;

static void both(wires *w, uint32_t a, uint32_t b)
{
    mrd__sim_add_link(w->topology, a, b, w->bandwidth, w->latency);
    mrd__sim_add_link(w->topology, b, a, w->bandwidth, w->latency);
}

static void ring_link(wires *w, uint32_t from, uint32_t to, uint32_t ring)
{
    uint32_t link = mrd__sim_add_link(w->topology, from, to, w->bandwidth, w->latency);
    w->topology->group[link] = w->topology->feeds[link] = ring;
}

static void grid(wires *w, const mrd__sim_shape *shape)
{
    uint32_t stride = 1, nodes = w->topology->nodes;
    for (uint32_t d = shape->dim_count; d-- > 0; stride *= shape->dims[d]) {
        uint32_t k = shape->dims[d];
        bool wrap = shape->wrap && k > 2; /* a ring of two is one pair of links */
        for (uint32_t c = 0; c < nodes; c++) {
            uint32_t x = c / stride % k, base = c - x * stride;
            if (x + 1 == k && !wrap) continue;
            uint32_t up = base + (x + 1) % k * stride, ring = 0;
            if (wrap) ring = 1 + (d * nodes + base) * 2;
            ring_link(w, c, up, ring);
            ring_link(w, up, c, wrap ? ring + 1 : 0);
        }
    }
}

static void fat_tree(wires *w, uint32_t k)
{
    uint32_t h = k / 2, edge = w->topology->chips, agg = edge + k * h, core = agg + k * h;
    for (uint32_t c = 0; c < w->topology->chips; c++)
        both(w, c, edge + c / h);
    for (uint32_t e = 0; e < k * h; e++)
        for (uint32_t u = 0; u < h; u++)
            both(w, edge + e, agg + e / h * h + u);
    for (uint32_t a = 0; a < k * h; a++)
        for (uint32_t u = 0; u < h; u++)
            both(w, agg + a, core + a % h * h + u);
}

static void dragonfly(wires *w, const mrd__sim_shape *shape)
{
    uint32_t p = shape->dims[0], a = shape->dims[1], h = shape->dims[2], groups = a * h + 1;
    uint32_t router = w->topology->chips;
    for (uint32_t c = 0; c < w->topology->chips; c++)
        both(w, c, router + c / p);
    for (uint32_t r = 0; r < groups * a; r++)
        for (uint32_t i = 0; i < a; i++) {
            if (i == r % a) continue;
            uint32_t link = mrd__sim_add_link(w->topology, router + r, router + r / a * a + i,
                                              w->bandwidth, w->latency);
            w->topology->group[link] = 1;
        }
    for (uint32_t g = 0; g < groups; g++)
        for (uint32_t q = 0; q + 1 < groups; q++) {
            uint32_t to = (g + q + 1) % groups, back = groups - q - 2;
            uint32_t link = mrd__sim_add_link(w->topology, router + g * a + q / h,
                                              router + to * a + back / h, w->bandwidth, w->latency);
            w->topology->feeds[link] = 1;
        }
}

void mrd__sim_shape_links(mrd__sim_topology *topology, const mrd__sim_shape *shape,
                          const mrd__sim_spec *spec)
{
    uint64_t chips, nodes;
    sizes(shape, &chips, &nodes);
    topology->chips = (uint32_t)chips;
    topology->nodes = (uint32_t)nodes;
    topology->names = mrd__calloc(nodes, sizeof *topology->names);
    for (uint32_t i = 0; i < nodes; i++) {
        mrd__buf name = {0};
        mrd__buf_printf(&name, i < chips ? "c%u" : "sw%u", i < chips ? i : i - (uint32_t)chips);
        memcpy(topology->names[i], name.data, name.size + 1);
        mrd__buf_reset(&name);
    }
    wires w = {topology, spec->bandwidth_gb_per_s, spec->latency_ns};
    switch (shape->kind) {
    case MRD__SIM_SHAPE_GRID:
        grid(&w, shape);
        break;
    case MRD__SIM_SHAPE_FULL:
        for (uint32_t i = 0; i < chips; i++)
            for (uint32_t j = i + 1; j < chips; j++)
                both(&w, i, j);
        break;
    case MRD__SIM_SHAPE_STAR:
        for (uint32_t i = 0; i < chips; i++)
            both(&w, i, (uint32_t)chips);
        break;
    case MRD__SIM_SHAPE_FAT_TREE:
        fat_tree(&w, shape->dims[0]);
        break;
    case MRD__SIM_SHAPE_FAT_TREE_2L:
        for (uint32_t i = 0; i < chips; i++)
            both(&w, i, (uint32_t)chips + i / shape->dims[1]);
        for (uint32_t l = 0; l < shape->dims[0]; l++)
            for (uint32_t s = 0; s < shape->dims[2]; s++)
                both(&w, (uint32_t)chips + l, (uint32_t)chips + shape->dims[0] + s);
        break;
    case MRD__SIM_SHAPE_DRAGONFLY:
        dragonfly(&w, shape);
        break;
    case MRD__SIM_SHAPE_GRAPH:
        break;
    }
}
