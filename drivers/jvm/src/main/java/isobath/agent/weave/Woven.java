package isobath.agent.weave;

import isobath.agent.link.Target;
import java.util.List;

/** A class of the service with probes in it. */
public final class Woven {
    /** The class; null when only its targets were asked for. */
    public final byte[] bytes;
    /** Its targets. */
    public final List<Target> targets;
    /** Methods that are left as they are, with the reason. */
    public final List<String> plain;

    Woven(byte[] bytes, List<Target> targets, List<String> plain) {
        this.bytes = bytes;
        this.targets = targets;
        this.plain = plain;
    }
}
