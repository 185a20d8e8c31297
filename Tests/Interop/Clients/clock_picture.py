"""Pictures that tell when they were made: 24 bars from left to right, bright for one, dark for nought.

Twenty of them are the milliseconds of the system's clock, the highest bit first; four are the exclusive or of the five nibbles.
Run alone, it publishes them by ffmpeg over RTMP with a tone: clock_picture.py SECONDS URL
"""
import subprocess
import sys
import time

WIDTH, HEIGHT, RATE = 640, 360, 30
MARGIN, BAR, BAND, BITS = 8, 26, 48, 24
RAMP = bytes(60 + x * 120 // WIDTH for x in range(WIDTH))
MOVING = [(RAMP[-shift:] + RAMP[:-shift]) * (HEIGHT - BAND) for shift in range(4, WIDTH, 4)]
CHROMA = bytes([100]) * (WIDTH * HEIGHT // 4), bytes([150]) * (WIDTH * HEIGHT // 4)


def code(milliseconds):
    value, check = milliseconds & 0xFFFFF, 0
    for nibble in range(5):
        check ^= value >> 4 * nibble & 15
    return value << 4 | check


def planes(number, now=None):
    """Y, U and V of a picture that is made now."""
    bits = code(int((now or time.time()) * 1000))
    bars = b"".join(bytes([220 if bits >> BITS - 1 - bit & 1 else 30]) * BAR for bit in range(BITS))
    row = bytes([30]) * MARGIN + bars
    row += bytes([30]) * (WIDTH - len(row))
    return row * BAND + MOVING[number % len(MOVING)], *CHROMA


def main():
    seconds, url = float(sys.argv[1]), sys.argv[2]
    encoder = subprocess.Popen([
        "ffmpeg", "-hide_banner", "-nostats", "-v", "warning", "-f", "rawvideo", "-pix_fmt", "yuv420p", "-s",
        f"{WIDTH}x{HEIGHT}", "-r", str(RATE), "-probesize", "32", "-fflags", "nobuffer", "-i", "-", "-f", "lavfi", "-re", "-i",
        "sine=f=440:r=48000,volume=4", "-map", "0:v", "-map", "1:a", "-c:v", "libx264", "-preset", "ultrafast", "-tune",
        "zerolatency", "-profile:v", "baseline", "-g", str(RATE), "-b:v", "1M", "-pix_fmt", "yuv420p", "-c:a", "aac", "-ac", "2",
        "-b:a", "96k", "-shortest", "-flush_packets", "1", "-f", "flv", url], stdin=subprocess.PIPE)
    start = time.monotonic()
    for number in range(int(seconds * RATE)):
        time.sleep(max(0, start + number / RATE - time.monotonic()))
        try:
            encoder.stdin.write(b"".join(planes(number)))
            encoder.stdin.flush()
        except BrokenPipeError:
            break
    encoder.stdin.close()
    return encoder.wait()


if __name__ == "__main__":
    sys.exit(main())
