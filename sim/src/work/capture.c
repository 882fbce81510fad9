/* Stream capture: work goes into a graph instead of the queue. A stream knows the nodes that its next one will depend on; events
 * recorded in it carry them to other streams, which join the capture by waiting for the event.
 *
 * Querying or waiting for an event is unsafe while the calling thread captures, and while any thread captures in global mode. The call
 * fails and invalidates those captures, unless the thread has relaxed its mode. (The real driver forbids more calls; this is the one
 * that programs are known to make.) */
#include "work/graph.h"

enum { STATUS_NONE, STATUS_ACTIVE, STATUS_INVALIDATED };
enum { MODE_GLOBAL = 0, MODE_RELAXED = 2, MODE_MOST = 2, DEPENDENCIES_ADD = 0, DEPENDENCIES_SET = 1 };
enum { CUDA_ERROR_STREAM_CAPTURE_MERGE = 902, CUDA_ERROR_STREAM_CAPTURE_UNJOINED = 904 };

struct sim_capture {
    struct sim_capture *next;
    CUgraph graph;
    CUstream origin;
    uint64_t id;
    CUstreamCaptureMode mode;
    pthread_t thread;
    bool invalid, ended;
};

static struct sim_capture *open_captures;
static _Thread_local int thread_mode;

static CUresult spoil(CUstream stream, CUresult error) {
    stream->tips.capture->invalid = true;
    return error;
}

CUresult sim_capture_forbid(CUstream stream) {
    return stream->tips.capture ? spoil(stream, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED) : CUDA_SUCCESS;
}

CUresult sim_capture_check_unsafe(void) {
    CUresult result = CUDA_SUCCESS;
    for (struct sim_capture *each = open_captures; each && thread_mode != MODE_RELAXED; each = each->next) {
        bool own = pthread_equal(each->thread, pthread_self());
        if (own ? each->mode == MODE_RELAXED : each->mode != MODE_GLOBAL || thread_mode != MODE_GLOBAL) continue;
        each->invalid = true;
        result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    return result;
}

static void close_capture(struct sim_capture *capture) {
    capture->ended = true;
    for (struct sim_capture **each = &open_captures; *each; each = &(*each)->next)
        if (*each == capture) {
            *each = capture->next;
            return;
        }
}

void sim_capture_leave(CUstream stream) {
    if (stream->tips.capture && stream->tips.capture->origin == stream) close_capture(stream->tips.capture);
}

CUresult sim_capture_check_legacy(CUstream stream) {
    if (!stream->legacy) return CUDA_SUCCESS;
    for (CUstream other = stream->context->streams; other; other = other->next)
        if (other->tips.capture && !(other->flags & 1)) return spoil(other, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    return CUDA_SUCCESS;
}

CUresult sim_capture_add(CUstream stream, const sim_work_t *work) {
    sim_tips_t *tips = &stream->tips;
    CUgraphNode node;
    SIM_REQUIRE(!tips->capture->invalid, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    SIM_TRY(sim_graph_add(tips->capture->graph, tips->nodes, tips->count, work, &node));
    tips->nodes[0] = node;
    tips->count = 1;
    return CUDA_SUCCESS;
}

static CUresult add_tips(sim_tips_t *tips, const CUgraphNode *nodes, size_t count) {
    for (size_t i = 0; i < count; i++) {
        bool known = false;
        for (unsigned k = 0; k < tips->count; k++) known |= tips->nodes[k] == nodes[i];
        if (known) continue;
        SIM_REQUIRE(tips->count < SIM_TIPS, CUDA_ERROR_OUT_OF_MEMORY);
        tips->nodes[tips->count++] = nodes[i];
    }
    return CUDA_SUCCESS;
}

CUresult sim_capture_join(CUstream stream, const sim_tips_t *tips) {
    SIM_REQUIRE(!tips->capture->ended, CUDA_ERROR_CAPTURED_EVENT);
    SIM_REQUIRE(!stream->legacy, spoil((CUstream)tips->capture->origin, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT));
    if (!stream->tips.capture) return stream->tips = *tips, CUDA_SUCCESS;
    SIM_REQUIRE(stream->tips.capture == tips->capture, spoil(stream, CUDA_ERROR_STREAM_CAPTURE_MERGE));
    return add_tips(&stream->tips, tips->nodes, tips->count);
}

CUresult sim_cuStreamBeginCapture_v2(CUstream handle, CUstreamCaptureMode mode) {
    static uint64_t ids;
    CUstream stream;
    SIM_REQUIRE(mode >= 0 && mode <= MODE_MOST, CUDA_ERROR_INVALID_VALUE);
    SIM_TRY(sim_stream_resolve(handle, &stream));
    SIM_REQUIRE(!stream->legacy, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    SIM_REQUIRE(!stream->tips.capture, CUDA_ERROR_ILLEGAL_STATE);
    struct sim_capture *capture = calloc(1, sizeof *capture);
    SIM_REQUIRE(capture, CUDA_ERROR_OUT_OF_MEMORY);
    SIM_TRY(sim_cuGraphCreate(&capture->graph, 0));
    capture->origin = stream;
    capture->id = ++ids;
    capture->mode = mode;
    capture->thread = pthread_self();
    capture->next = open_captures;
    open_captures = capture;
    stream->tips = (sim_tips_t){.capture = capture};
    return CUDA_SUCCESS;
}

CUresult sim_cuStreamBeginCapture(CUstream stream) { return sim_cuStreamBeginCapture_v2(stream, 0); }

static bool is_joined(const sim_tips_t *other, const sim_tips_t *origin) {
    for (unsigned i = 0; i < other->count; i++) {
        bool reached = false;
        for (unsigned k = 0; k < origin->count; k++) reached |= sim_graph_reaches(other->nodes[i], origin->nodes[k]);
        if (!reached) return false;
    }
    return true;
}

/* The capture's record stays: events may still point to it. */
CUresult sim_cuStreamEndCapture(CUstream handle, CUgraph *graph) {
    CUstream stream;
    SIM_REQUIRE(graph, CUDA_ERROR_INVALID_VALUE);
    *graph = NULL;
    SIM_TRY(sim_stream_resolve(handle, &stream));
    struct sim_capture *capture = stream->tips.capture;
    SIM_REQUIRE(capture, CUDA_ERROR_ILLEGAL_STATE);
    SIM_REQUIRE(capture->origin == stream, spoil(stream, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED));
    CUresult result = capture->invalid ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS;
    sim_tips_t tips = stream->tips;
    for (CUstream other = stream->context->streams; other; other = other->next) {
        if (other->tips.capture != capture) continue;
        if (!result && !is_joined(&other->tips, &tips)) result = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
        other->tips.capture = NULL;
    }
    close_capture(capture);
    if (!result) *graph = capture->graph;
    else sim_graph_drop(capture->graph);
    return result;
}

static int status_of(CUstream stream) {
    return !stream->tips.capture ? STATUS_NONE : stream->tips.capture->invalid ? STATUS_INVALIDATED : STATUS_ACTIVE;
}

CUresult sim_cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus *status) {
    CUstream stream;
    SIM_REQUIRE(status, CUDA_ERROR_INVALID_VALUE);
    SIM_TRY(sim_stream_resolve(handle, &stream));
    *status = status_of(stream);
    return CUDA_SUCCESS;
}

CUresult sim_cuStreamGetCaptureInfo_v3(CUstream handle, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph, const CUgraphNode **nodes,
                                       const CUgraphEdgeData **edges, size_t *count) {
    CUstream stream;
    SIM_REQUIRE(status, CUDA_ERROR_INVALID_VALUE);
    SIM_TRY(sim_stream_resolve(handle, &stream));
    *status = status_of(stream);
    if (*status != STATUS_ACTIVE) return CUDA_SUCCESS;
    if (id) *id = stream->tips.capture->id;
    if (graph) *graph = stream->tips.capture->graph;
    if (nodes) *nodes = stream->tips.nodes;
    if (edges) *edges = NULL;
    if (count) *count = stream->tips.count;
    return CUDA_SUCCESS;
}

CUresult sim_cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph,
                                       const CUgraphNode **nodes, size_t *count) {
    return sim_cuStreamGetCaptureInfo_v3(stream, status, id, graph, nodes, NULL, count);
}

CUresult sim_cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id) {
    return sim_cuStreamGetCaptureInfo_v3(stream, status, id, NULL, NULL, NULL, NULL);
}

CUresult sim_cuStreamUpdateCaptureDependencies(CUstream handle, CUgraphNode *nodes, size_t count, unsigned int flags) {
    CUstream stream;
    SIM_REQUIRE((nodes || !count) && flags <= DEPENDENCIES_SET, CUDA_ERROR_INVALID_VALUE);
    SIM_TRY(sim_stream_resolve(handle, &stream));
    SIM_REQUIRE(stream->tips.capture, CUDA_ERROR_ILLEGAL_STATE);
    if (flags == DEPENDENCIES_SET) stream->tips.count = 0;
    return add_tips(&stream->tips, nodes, count);
}

CUresult sim_cuStreamUpdateCaptureDependencies_v2(CUstream stream, CUgraphNode *nodes, const CUgraphEdgeData *edges,
                                                  size_t count, unsigned int flags) {
    (void)edges;
    return sim_cuStreamUpdateCaptureDependencies(stream, nodes, count, flags);
}

CUresult sim_cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode) {
    SIM_REQUIRE(mode && *mode >= 0 && *mode <= MODE_MOST, CUDA_ERROR_INVALID_VALUE);
    int before = thread_mode;
    thread_mode = *mode;
    *mode = before;
    return CUDA_SUCCESS;
}

CUresult sim_graph_alloc_node(CUstream stream, size_t bytes, CUdeviceptr *address) {
    SIM_REQUIRE(!stream->tips.capture->invalid, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    const sim_tips_t *tips = &stream->tips;
    SIM_TRY(sim_graph_memory_make(&(sim_graph_place_t){tips->capture->graph, tips->nodes, tips->count, stream->context->device}, bytes, address));
    return sim_capture_add(stream, &(sim_work_t){.kind = SIM_WORK_ALLOC, .memory = {.address = *address, .bytes = bytes}});
}

CUresult sim_graph_free_node(CUstream stream, CUdeviceptr address) {
    SIM_REQUIRE(sim_graph_memory_is_known(address), spoil(stream, CUDA_ERROR_INVALID_VALUE));
    return sim_capture_add(stream, &(sim_work_t){.kind = SIM_WORK_FREE, .memory = {.address = address}});
}
