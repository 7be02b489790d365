package isobath.agent.link;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;

/** The layout of the map of scores; see docs/protocol.md. */
public final class Cells {
    /** The first word: "ISOBATH" and a zero. */
    static final long MAGIC = 0x0048_5441_424f_5349L;
    /** Bytes before the bits. */
    public static final int HEADER = 64;
    /** Where the number of the candidate stands. */
    public static final int CANDIDATE = 16;
    /** Where the number of the action stands. */
    public static final int ACTION = 24;

    private Cells() {}

    /** Where the cells begin in a map of so many targets. */
    public static int first(int targets) {
        return HEADER + (targets + 63) / 64 * 8;
    }

    /** How many targets a map has. */
    public static int targets(ByteBuffer map) {
        return (int) map.getLong(8);
    }

    /** Maps the file that the core made. */
    static ByteBuffer open(String path, int version) throws IOException {
        try (RandomAccessFile file = new RandomAccessFile(path, "rw")) {
            ByteBuffer map = file.getChannel().map(FileChannel.MapMode.READ_WRITE, 0, file.length());
            map.order(ByteOrder.nativeOrder());
            if (file.length() < HEADER || map.getLong(0) != MAGIC) {
                throw new IOException(path + " is not a map of scores");
            }
            if ((int) (map.getLong(8) >>> 32) != version || first(targets(map)) + 8L * targets(map) > file.length()) {
                throw new IOException(path + " is a map of another version");
            }
            return map;
        }
    }

    /** A map in this process only, for tests and measurements. */
    public static ByteBuffer alone(int targets) {
        ByteBuffer map = ByteBuffer.allocateDirect(first(targets) + 8 * targets).order(ByteOrder.nativeOrder());
        map.putLong(0, MAGIC);
        map.putLong(8, 1L << 32 | targets);
        return map;
    }
}
