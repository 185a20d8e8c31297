#ifndef CHANDSHAKEMEMORY_H
#define CHANDSHAKEMEMORY_H

/// Where OpenSSL puts the messages of a handshake together: one buffer of 21,848 bytes for each connection. TLS frees it when the
/// handshake is done. DTLS keeps it for messages that may have to be sent again, and no call frees it; what it holds between two
/// calls means nothing (`dtls1_retransmit_message` and `dtls1_get_message` fill it first). So its pages can go.
///
/// OpenSSL tells nobody where the buffer lies: its allocations pass through here, since before `main`, where it has one. A thread
/// watches for one buffer at a time, around each call for a connection.

/// From now on this is the buffer that this thread watches: NULL where its connection has none yet.
void handshake_memory_watch(void *buffer);

/// The watched buffer; that which was made since, where there was one; NULL where it was freed.
void *handshake_memory_watched(void);

/// Gives the buffer's pages back to the system until it is written to again. NULL is nothing.
void handshake_memory_give_back(void *buffer);

#endif
