package isobath.agent.link;

import isobath.agent.Settings;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** The connection to the core. */
public final class Link {
    /** The version of the messages and of the map. */
    public static final int VERSION = 1;

    private static final String NAME = "isobath-agent 0.1.0";
    private static final int PATIENCE = 30_000;
    /** So many targets are told in one message. */
    private static final int AT_ONCE = 10_000;

    /** The one connection of this JVM, or null. */
    private static volatile Link current;

    private final DataInputStream in;
    private final Queue queue;
    private final ByteBuffer map;

    private Link(DataInputStream in, Queue queue, ByteBuffer map) {
        this.in = in;
        this.queue = queue;
        this.map = map;
    }

    /** What the core may ask for beyond the protocol's own commands. */
    public interface Services {
        /** More values are inputs to track. */
        void track(List<String> inputs);

        /** All events are about to be told. */
        void settle();

        /** Forgets the state of the service. */
        void reset() throws Exception;

        /** Runs SQL and returns rows of texts. */
        List<List<String>> runSql(String text) throws Exception;

        /** The tables that SQL would be run on. */
        List<List<String>> describe() throws Exception;
    }

    /** The connection, or null. */
    public static Link current() {
        return current;
    }

    /** A connection to nobody, for tests of what is told. */
    public static void alone(ByteBuffer map, OutputStream out) {
        current = new Link(null, new Queue(out), map);
    }

    /** Greets the core with these targets; nothing is recorded before. */
    public static Link open(Settings settings, List<Target> targets, int cells) throws IOException {
        int colon = settings.address.lastIndexOf(':');
        if (colon < 0) {
            throw new IOException("ISOBATH_ADDRESS is " + settings.address + " and should be HOST:PORT");
        }
        InetAddress host = InetAddress.getByName(settings.address.substring(0, colon));
        if (!host.isLoopbackAddress()) {
            throw new IOException("the core must be on this host, not at " + host);
        }
        Socket socket = new Socket();
        socket.setTcpNoDelay(true);
        int port = Integer.parseInt(settings.address.substring(colon + 1));
        socket.connect(new InetSocketAddress(host, port), PATIENCE);
        socket.setSoTimeout(PATIENCE);
        OutputStream out = socket.getOutputStream();
        out.write((settings.token + "\n").getBytes(StandardCharsets.US_ASCII));
        out.write(Frame.hello(VERSION, NAME, process()).bytes());
        for (int from = 0; from < targets.size(); from += AT_ONCE) {
            int to = Math.min(targets.size(), from + AT_ONCE);
            out.write(Frame.targets(targets.subList(from, to)).bytes());
        }
        out.write(Frame.ready(cells).bytes());
        out.flush();
        DataInputStream in = new DataInputStream(new java.io.BufferedInputStream(socket.getInputStream()));
        ByteBuffer welcome = receive(in);
        if (welcome.get() != 1) {
            throw new IOException("the core did not welcome us");
        }
        int version = welcome.getInt();
        if (version != VERSION) {
            throw new IOException("the core speaks version " + version + ", we speak " + VERSION);
        }
        ByteBuffer map = Cells.open(text(welcome), VERSION);
        socket.setSoTimeout(0);
        Link link = new Link(in, new Queue(out), map);
        current = link;
        return link;
    }

    /** Where events go. */
    public Queue queue() {
        return queue;
    }

    /** The map of scores. */
    public ByteBuffer map() {
        return map;
    }

    /** The number of the current candidate. */
    public long candidate() {
        return map.getLong(Cells.CANDIDATE);
    }

    /** The number of the current action. */
    public int action() {
        return (int) Math.min(65535, map.getLong(Cells.ACTION));
    }

    /** Answers the core until it is gone. */
    public void serve(Services services) {
        thread("isobath", () -> obey(services));
        thread("isobath-urgent", queue::deliver);
    }

    private interface Work {
        void run() throws Exception;
    }

    private static void thread(String name, Work work) {
        Thread thread =
                new Thread(
                        () -> {
                            try {
                                work.run();
                            } catch (Exception gone) {
                                // Without a core the service goes on alone.
                            }
                        },
                        name);
        thread.setDaemon(true);
        thread.start();
    }

    private void obey(Services services) throws IOException {
        while (true) {
            ByteBuffer command = receive(in);
            switch (command.get()) {
                case 2:
                    services.track(texts(command));
                    break;
                case 3:
                    services.settle();
                    queue.flush(Frame.synced(command.getLong()));
                    break;
                case 4:
                    answer(
                            command.getInt(),
                            () -> {
                                services.reset();
                                return Collections.emptyList();
                            });
                    break;
                case 5:
                    int request = command.getInt();
                    String sql = text(command);
                    answer(request, () -> services.runSql(sql));
                    break;
                case 6:
                    answer(command.getInt(), services::describe);
                    break;
                default:
                    // A newer core may say more than we know.
            }
        }
    }

    private interface Request {
        List<List<String>> run() throws Exception;
    }

    private void answer(int number, Request request) throws IOException {
        Frame answer;
        try {
            answer = Frame.answer(number, null, request.run());
        } catch (Exception | LinkageError problem) {
            answer = Frame.answer(number, String.valueOf(problem.getMessage()), Collections.emptyList());
        }
        if (!answer.fits()) {
            answer = Frame.answer(number, "more rows than a message can hold", Collections.emptyList());
        }
        queue.flush(answer);
    }

    private static ByteBuffer receive(DataInputStream in) throws IOException {
        int length = Integer.reverseBytes(in.readInt());
        if (length <= 0 || length > Frame.LONGEST) {
            throw new EOFException("no message has " + length + " bytes");
        }
        byte[] bytes = new byte[length];
        in.readFully(bytes);
        return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    private static String text(ByteBuffer from) {
        byte[] bytes = new byte[from.getInt()];
        from.get(bytes);
        return new String(bytes, StandardCharsets.UTF_8);
    }

    private static List<String> texts(ByteBuffer from) {
        int count = from.getInt();
        List<String> texts = new ArrayList<>();
        for (int at = 0; at < count; at++) {
            texts.add(text(from));
        }
        return texts;
    }

    private static int process() {
        try {
            String self = new java.io.File("/proc/self").getCanonicalFile().getName();
            return Integer.parseInt(self);
        } catch (IOException | NumberFormatException elsewhere) {
            String name = ManagementFactory.getRuntimeMXBean().getName();
            return Integer.parseInt(name.substring(0, name.indexOf('@')));
        }
    }
}
