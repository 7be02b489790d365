package isobath.agent.probe;

import isobath.agent.link.Cells;
import java.nio.ByteBuffer;

/** What probes record into; set once, before the first probe is executed. */
public final class Recording {
    private static ByteBuffer map;
    private static boolean methods = true;

    private Recording() {}

    /** Records into this map from now on. */
    public static synchronized void into(ByteBuffer chosen, boolean withMethods) {
        map = chosen;
        methods = withMethods;
    }

    /** The map; one that nobody reads when there is no core. */
    static synchronized ByteBuffer map() {
        if (map == null) {
            map = Cells.alone(1 << 16);
        }
        return map;
    }

    /** Whether replaced methods have distances. */
    public static boolean methods() {
        return methods;
    }
}
