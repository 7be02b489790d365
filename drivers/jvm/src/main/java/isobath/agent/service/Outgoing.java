package isobath.agent.service;

import isobath.agent.link.Frame;
import isobath.agent.link.Link;
import java.io.IOException;
import java.net.Proxy;
import java.net.ProxySelector;
import java.net.SocketAddress;
import java.net.URI;
import java.util.Collections;
import java.util.List;

/**
 * Whom the service calls by HTTP. Clients ask which proxy leads there before they connect ({@code HttpURLConnection},
 * {@code java.net.http.HttpClient}, OkHttp and what stands on them), so no class has to be changed to know.
 */
public final class Outgoing extends ProxySelector {
    private final ProxySelector before;

    private Outgoing(ProxySelector before) {
        this.before = before;
    }

    /** Listens to that question from now on; it is answered as before. */
    public static void watch() {
        try {
            ProxySelector.setDefault(new Outgoing(ProxySelector.getDefault()));
        } catch (SecurityException forbidden) {
            // A service that forbids it calls unseen.
        }
    }

    @Override
    public List<Proxy> select(URI uri) {
        tell(uri);
        return before == null ? Collections.singletonList(Proxy.NO_PROXY) : before.select(uri);
    }

    @Override
    public void connectFailed(URI uri, SocketAddress address, IOException failure) {
        if (before != null) {
            before.connectFailed(uri, address, failure);
        }
    }

    private static void tell(URI uri) {
        if (uri == null || uri.getHost() == null) {
            return;
        }
        String scheme = uri.getScheme();
        // A plain socket, such as one to a database, is no HTTP.
        if (!"http".equalsIgnoreCase(scheme) && !"https".equalsIgnoreCase(scheme)) {
            return;
        }
        Link link = Link.current();
        if (link != null) {
            String port = uri.getPort() < 0 ? "" : ":" + uri.getPort();
            String path = uri.getRawPath() == null || uri.getRawPath().isEmpty() ? "/" : uri.getRawPath();
            String url = scheme.toLowerCase(java.util.Locale.ROOT) + "://" + uri.getHost() + port + path;
            link.queue().addOnce(Frame.called(link.action(), url), link.candidate());
        }
    }
}
