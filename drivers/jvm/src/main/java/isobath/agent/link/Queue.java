package isobath.agent.link;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.HashSet;
import java.util.Set;

/**
 * Events that wait for the core to ask.
 *
 * <p>Threads of the service only ever append here; they never write to the socket, so a core that
 * does not read cannot stop the service.
 */
public final class Queue {
    /** More events between two questions are left out. */
    private static final int MOST = 5000;

    private final OutputStream out;
    private ByteArrayOutputStream waiting = new ByteArrayOutputStream();
    private int events;
    private int dropped;
    private final Set<java.nio.ByteBuffer> said = new HashSet<>();
    private long candidate = -1;
    private boolean urgent;

    Queue(OutputStream out) {
        this.out = out;
    }

    /** Keeps an event until the core asks. */
    public synchronized void add(Frame frame) {
        append(frame.bytes(), frame.fits());
    }

    /** As {@link #add}, once per candidate. */
    public synchronized void addOnce(Frame frame, long candidate) {
        if (this.candidate != candidate) {
            this.candidate = candidate;
            said.clear();
        }
        byte[] bytes = frame.bytes();
        if (said.add(java.nio.ByteBuffer.wrap(bytes))) {
            append(bytes, frame.fits());
        }
    }

    /** Keeps an event that should not wait. */
    public synchronized void addUrgent(Frame frame) {
        add(frame);
        urgent = true;
        notifyAll();
    }

    private void append(byte[] bytes, boolean fits) {
        if (events < MOST && fits) {
            events++;
            waiting.write(bytes, 0, bytes.length);
        } else {
            dropped++;
        }
    }

    /** Sends what waits, and then this, if there is something. */
    public void flush(Frame last) throws IOException {
        synchronized (out) {
            byte[] first = null;
            byte[] bytes;
            synchronized (this) {
                if (dropped > 0) {
                    first = Frame.dropped(dropped).bytes();
                }
                if (last != null) {
                    byte[] end = last.bytes();
                    waiting.write(end, 0, end.length);
                }
                bytes = waiting.toByteArray();
                waiting = new ByteArrayOutputStream();
                events = 0;
                dropped = 0;
                urgent = false;
            }
            if (first != null) {
                out.write(first);
            }
            out.write(bytes);
            out.flush();
        }
    }

    /** Sends urgent events until the connection ends. */
    void deliver() throws IOException, InterruptedException {
        while (true) {
            synchronized (this) {
                while (!urgent) {
                    wait();
                }
            }
            flush(null);
        }
    }
}
