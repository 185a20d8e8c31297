#include <features.h>
#include <opus/opus.h>

// opus_encoder_ctl is variadic, which Swift cannot call: one function for each request that is used.
static inline int opus_shim_set_bitrate(OpusEncoder *encoder, opus_int32 bits_per_second) {
    return opus_encoder_ctl(encoder, OPUS_SET_BITRATE(bits_per_second));
}

static inline int opus_shim_set_complexity(OpusEncoder *encoder, opus_int32 complexity) {
    return opus_encoder_ctl(encoder, OPUS_SET_COMPLEXITY(complexity));
}

static inline int opus_shim_get_lookahead(OpusEncoder *encoder, opus_int32 *samples) {
    return opus_encoder_ctl(encoder, OPUS_GET_LOOKAHEAD(samples));
}
