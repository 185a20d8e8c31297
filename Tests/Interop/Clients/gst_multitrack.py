#!/usr/bin/python3
"""gst_multitrack.py SECONDS URL: publishes three renditions and sound by GStreamer's eflvmux (1.28 and later), by its C library alone:
the Debian that has it here has no bindings. Ends with 1 after an error.
"""
import ctypes
import sys

SECONDS, URL = int(sys.argv[1]), sys.argv[2]
RATE = 30
RENDITIONS = [('video', 1280, 720, 1500), ('video_1', 640, 360, 600), ('video_2', 320, 180, 200)]
ENDS = 0x1 | 0x2  # GST_MESSAGE_EOS, GST_MESSAGE_ERROR


def pipeline():
    parts = [f'eflvmux name=mux streamable=true ! rtmp2sink location={URL}']
    for pad, width, height, kilobits in RENDITIONS:
        parts.append(
            f'videotestsrc is-live=true num-buffers={SECONDS * RATE} ! video/x-raw,width={width},height={height},framerate={RATE}/1 '
            f'! x264enc tune=zerolatency speed-preset=ultrafast bframes=0 key-int-max=60 bitrate={kilobits} '
            f'! video/x-h264,profile=baseline ! h264parse ! video/x-h264,stream-format=avc ! queue ! mux.{pad}')
    parts.append(
        f'audiotestsrc is-live=true samplesperbuffer=1024 num-buffers={SECONDS * 48000 // 1024} ! audio/x-raw,rate=48000,channels=2 '
        '! audioconvert ! voaacenc ! aacparse ! queue ! mux.audio')
    return '  '.join(parts)


def main():
    gst = ctypes.CDLL('libgstreamer-1.0.so.0')
    gst.gst_init(None, None)
    for name in ('gst_parse_launch', 'gst_element_get_bus', 'gst_bus_timed_pop_filtered'):
        getattr(gst, name).restype = ctypes.c_void_p
    error = ctypes.c_void_p()
    element = ctypes.c_void_p(gst.gst_parse_launch(pipeline().encode(), ctypes.byref(error)))
    if not element or error:
        sys.exit(f'the pipeline cannot be made: {ctypes.string_at(ctypes.cast(error, ctypes.POINTER(ctypes.c_char_p))[1])}')
    gst.gst_element_set_state(element, 4)
    bus = ctypes.c_void_p(gst.gst_element_get_bus(element))
    message = gst.gst_bus_timed_pop_filtered(bus, ctypes.c_uint64((SECONDS + 60) * 10**9), ENDS)
    # struct _GstMiniObject is 64 bytes before GstMessage.type.
    ended = message and ctypes.cast(message + 64, ctypes.POINTER(ctypes.c_uint))[0] == 0x1
    gst.gst_element_set_state(element, 1)
    sys.exit(0 if ended else 1)


main()
