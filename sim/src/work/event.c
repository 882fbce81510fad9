/* Events: recorded in a stream, reached by the engine, waited for by hosts and streams. */
#include "work/work.h"

enum { EVENT_BLOCKING = 1, EVENT_NO_TIMING = 2, EVENT_INTERPROCESS = 4, EVENT_FLAGS = 7, RECORD_EXTERNAL = 1 };

void sim_event_forget(CUevent event) {
    event->pending--;
    if (!event->destroyed || event->pending) return;
    sim_event_unshare(event);
    free(event);
}

CUresult sim_cuEventCreate(CUevent *result, unsigned int flags) {
    CUcontext context;
    SIM_REQUIRE(result && (flags & ~(unsigned)EVENT_FLAGS) == 0, CUDA_ERROR_INVALID_VALUE);
    SIM_REQUIRE(!(flags & EVENT_INTERPROCESS) || flags & EVENT_NO_TIMING, CUDA_ERROR_INVALID_VALUE);
    SIM_TRY(sim_context_current(&context));
    CUevent event = calloc(1, sizeof *event);
    SIM_REQUIRE(event, CUDA_ERROR_OUT_OF_MEMORY);
    if (flags & EVENT_INTERPROCESS && !sim_event_share(event)) return free(event), CUDA_ERROR_OPERATING_SYSTEM;
    event->context = context;
    event->flags = flags;
    *result = event;
    return CUDA_SUCCESS;
}

CUresult sim_cuEventDestroy_v2(CUevent event) {
    SIM_REQUIRE(event && !event->destroyed, CUDA_ERROR_INVALID_HANDLE);
    event->destroyed = true;
    event->pending++;
    sim_event_forget(event);
    return CUDA_SUCCESS;
}

CUresult sim_cuEventDestroy(CUevent event) { return sim_cuEventDestroy_v2(event); }

static CUresult queue(CUstream stream, CUevent event, sim_work_kind_t kind, uint64_t recording) {
    event->pending++;
    CUresult result = sim_work_queue(stream, &(sim_work_t){.kind = kind, .event = {event, recording}});
    if (result) event->pending--;
    return result;
}

CUresult sim_event_record(CUevent event, CUstream stream) {
    uint64_t recording = sim_event_next_recording(event);
    CUresult queued = queue(stream, event, SIM_WORK_RECORD, recording);
    if (queued) sim_event_reach(event, recording, event->time_ns);
    return queued;
}

CUresult sim_cuEventRecordWithFlags(CUevent event, CUstream handle, unsigned int flags) {
    CUstream stream;
    SIM_REQUIRE(event, CUDA_ERROR_INVALID_HANDLE);
    SIM_REQUIRE(flags <= RECORD_EXTERNAL, CUDA_ERROR_INVALID_VALUE);
    SIM_TRY(sim_stream_resolve(handle, &stream));
    SIM_REQUIRE(stream->context == event->context, CUDA_ERROR_INVALID_HANDLE);
    event->tips.capture = NULL;
    if (stream->tips.capture && flags == RECORD_EXTERNAL)
        return sim_capture_add(stream, &(sim_work_t){.kind = SIM_WORK_RECORD, .event = {event, 0}});
    if (stream->tips.capture) return event->tips = stream->tips, CUDA_SUCCESS;
    SIM_TRY(sim_capture_check_legacy(stream));
    return sim_event_record(event, stream);
}

CUresult sim_cuEventRecord(CUevent event, CUstream stream) { return sim_cuEventRecordWithFlags(event, stream, 0); }

static bool is_reached(CUevent event) { return sim_event_completed(event) >= sim_event_recordings(event); }

CUresult sim_cuStreamWaitEvent(CUstream handle, CUevent event, unsigned int flags) {
    CUstream stream;
    SIM_REQUIRE(event, CUDA_ERROR_INVALID_HANDLE);
    SIM_REQUIRE(flags <= 1, CUDA_ERROR_INVALID_VALUE);
    SIM_TRY(sim_stream_resolve(handle, &stream));
    if (event->tips.capture) return sim_capture_join(stream, &event->tips);
    if (stream->tips.capture && flags == 1)
        return sim_capture_add(stream, &(sim_work_t){.kind = SIM_WORK_WAIT_EVENT, .event = {event, 0}});
    SIM_TRY(sim_capture_forbid(stream));
    if (is_reached(event)) return CUDA_SUCCESS;
    return queue(stream, event, SIM_WORK_WAIT_EVENT, sim_event_recordings(event));
}

CUresult sim_event_wait_in(CUevent event, CUstream stream) {
    return queue(stream, event, SIM_WORK_WAIT_EVENT, sim_event_recordings(event));
}

CUresult sim_cuEventQuery(CUevent event) {
    SIM_REQUIRE(event, CUDA_ERROR_INVALID_HANDLE);
    SIM_REQUIRE(!event->tips.capture, CUDA_ERROR_CAPTURED_EVENT);
    SIM_TRY(sim_capture_check_unsafe());
    sim_work_catch_up();
    SIM_TRY(sim_context_error(event->context));
    return is_reached(event) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult sim_cuEventSynchronize(CUevent event) {
    SIM_REQUIRE(event, CUDA_ERROR_INVALID_HANDLE);
    SIM_REQUIRE(!event->tips.capture, CUDA_ERROR_CAPTURED_EVENT);
    SIM_TRY(sim_capture_check_unsafe());
    return sim_event_wait(event, sim_event_recordings(event));
}

CUresult sim_cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end) {
    SIM_REQUIRE(milliseconds, CUDA_ERROR_INVALID_VALUE);
    SIM_REQUIRE(start && end && start->recordings && end->recordings, CUDA_ERROR_INVALID_HANDLE);
    SIM_REQUIRE(!((start->flags | end->flags) & EVENT_NO_TIMING), CUDA_ERROR_INVALID_HANDLE);
    SIM_REQUIRE(start->completed == start->recordings && end->completed == end->recordings, CUDA_ERROR_NOT_READY);
    *milliseconds = (float)((double)(int64_t)(end->time_ns - start->time_ns) / 1e6);
    return CUDA_SUCCESS;
}

CUresult sim_cuEventElapsedTime_v2(float *milliseconds, CUevent start, CUevent end) { return sim_cuEventElapsedTime(milliseconds, start, end); }
