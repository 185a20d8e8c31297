"""What programs have in common that publish by PyAV's own ffmpeg."""
import logging
import signal
import sys

import av
import av.logging


def run(main, seconds):
    """Runs main for so long at most. Prints what ffmpeg logs; ends with 1 when the server ended the stream."""
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    signal.alarm(seconds)
    logging.basicConfig(stream=sys.stdout)
    av.logging.set_level(av.logging.ERROR)
    av.logging.restore_default_callback()
    try:
        main()
    except av.FFmpegError as error:
        print('ended:', error)
        # The container cannot be closed properly any more.
        sys.stdout.flush()
        sys.exit(1)
