"""Connects many times from many addresses of 127.0.0.0/8 and says nothing; who is cut off is replaced by another, 200 a second at
most. Ends when it is killed.

usage: silent_peers.py HOST PORT COUNT
Prints `standing N cut N` once a second, from when COUNT connections have been made.
"""
import sys

import crowd

address = sys.argv[1], int(sys.argv[2])
crowd.keep(int(sys.argv[3]), lambda number: crowd.Peer(number, address))
