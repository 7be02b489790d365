package isobath.agent.link;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/** One message to the core, as bytes; see docs/protocol.md. */
public final class Frame {
    /** No message is longer. */
    static final int LONGEST = 16 << 20;

    private byte[] bytes = new byte[64];
    private int length = 4;

    private Frame(int tag) {
        u8(tag);
    }

    /** The first message. */
    public static Frame hello(int version, String driver, int process) {
        return new Frame(1).u32(version).text("jvm").text(driver).u32(process);
    }

    /** More targets. */
    public static Frame targets(List<Target> targets) {
        Frame frame = new Frame(2).u32(targets.size());
        for (Target target : targets) {
            frame.u32(target.id).u8(target.kind).text(target.unit).text(target.file).u32(target.line).u32(target.column);
            frame.u32(target.column).text(target.function).text(target.text);
        }
        return frame;
    }

    /** All targets have been sent. */
    public static Frame ready(int cells) {
        return new Frame(3).u32(cells);
    }

    /** A statement was executed. */
    public static Frame statement(int action, String database, String text, long rows, String failure) {
        return new Frame(4).u16(action).text(database).text(text).u64(rows).optional(failure);
    }

    /** A tracked input was used; {@code target} is negative where the place has none. */
    public static Frame tracked(int action, String input, int role, List<String> arguments, int target) {
        Frame frame = new Frame(5).u16(action).text(input).u8(role).u32(arguments.size());
        for (String argument : arguments) {
            frame.text(argument);
        }
        return target < 0 ? frame.u8(0) : frame.u8(1).u32(target);
    }

    /** A part of a request was looked for by name. */
    public static Frame parameter(int action, int place, String name) {
        return new Frame(6).u16(action).u8(place).text(name);
    }

    /** The service failed at a place. */
    public static Frame panicked(int action, String file, int line, String message, String stack) {
        return new Frame(7).u16(action).u8(0).text(file).u32(line).u32(1).text(message).text(stack);
    }

    /** All events have been sent. */
    public static Frame synced(long token) {
        return new Frame(8).u64(token);
    }

    /** The answer to a request. */
    public static Frame answer(int request, String failure, List<List<String>> rows) {
        Frame frame = new Frame(9).u32(request).optional(failure).u32(rows.size());
        for (List<String> row : rows) {
            frame.u32(row.size());
            for (String value : row) {
                frame.optional(value);
            }
        }
        return frame;
    }

    /** Events were left out. */
    public static Frame dropped(int events) {
        return new Frame(10).u32(events);
    }

    /** A part of the code is not watched. */
    public static Frame unwatched(String name, String reason) {
        return new Frame(11).text(name).text(reason);
    }

    /** An outside service was called. */
    public static Frame called(int action, String url) {
        return new Frame(12).u16(action).text(url);
    }

    /** A JSON body was read into a type. */
    public static Frame body(int action, String schema) {
        return new Frame(13).u16(action).text(schema);
    }

    /** Whether it can be sent. */
    public boolean fits() {
        return length - 4 <= LONGEST;
    }

    /** The bytes, the length in front. */
    public byte[] bytes() {
        int size = length - 4;
        for (int at = 0; at < 4; at++) {
            bytes[at] = (byte) (size >>> 8 * at);
        }
        return Arrays.copyOf(bytes, length);
    }

    private Frame u8(int value) {
        return number(value, 1);
    }

    private Frame u16(int value) {
        return number(value, 2);
    }

    private Frame u32(int value) {
        return number(value, 4);
    }

    private Frame u64(long value) {
        return number(value, 8);
    }

    private Frame number(long value, int size) {
        room(size);
        for (int at = 0; at < size; at++) {
            bytes[length++] = (byte) (value >>> 8 * at);
        }
        return this;
    }

    private Frame text(String text) {
        byte[] utf8 = (text == null ? "" : text).getBytes(StandardCharsets.UTF_8);
        u32(utf8.length);
        room(utf8.length);
        System.arraycopy(utf8, 0, bytes, length, utf8.length);
        length += utf8.length;
        return this;
    }

    private Frame optional(String text) {
        return text == null ? u8(0) : u8(1).text(text);
    }

    private void room(int more) {
        if (length + more > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.max(bytes.length * 2, length + more));
        }
    }
}
