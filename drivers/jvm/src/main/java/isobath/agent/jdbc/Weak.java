package isobath.agent.jdbc;

import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** What is known of objects that others own, for as long as they live; by identity, since they may compare as they like. */
public final class Weak<V> {
    private final Map<Key, V> map = new ConcurrentHashMap<>();
    private final ReferenceQueue<Object> gone = new ReferenceQueue<>();

    /** What is known of an object; null when nothing is. */
    public V get(Object key) {
        return map.get(new Key(key, null));
    }

    /** From now on this is known of an object. */
    public void put(Object key, V value) {
        for (Reference<?> dead = gone.poll(); dead != null; dead = gone.poll()) {
            map.remove(dead);
        }
        map.put(new Key(key, gone), value);
    }

    private static final class Key extends WeakReference<Object> {
        private final int hash;

        Key(Object object, ReferenceQueue<Object> queue) {
            super(object, queue);
            hash = System.identityHashCode(object);
        }

        @Override
        public int hashCode() {
            return hash;
        }

        @Override
        public boolean equals(Object other) {
            if (this == other) {
                return true;
            }
            Object mine = get();
            return other instanceof Key && mine != null && mine == ((Key) other).get();
        }
    }
}
