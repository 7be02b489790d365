package isobath.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;

import isobath.agent.service.ServiceClasses;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SettingsTest {
    @ParameterizedTest
    @CsvSource({
        "shop, shop.Prices, true",
        "shop, shopping.Cart, false",
        "shop.Prices, shop.Prices$Rebate, true",
        "shop.*, shop.Prices, true",
        "shop.*, store.shop.Prices, false",
        "*.Prices, shop.Prices, true",
        "*Generated, shop.PricesGenerated, true",
        "*Generated, shop.Prices, false",
        "shop.*.internal, shop.a.b.internal.C, true",
        "sh+p, shop.Prices, false",
    })
    void aStarStandsForAnyCharactersAndANameForAllThatIsInIt(String pattern, String name, boolean matches) {
        Settings settings = Settings.of(Collections.emptyMap(), "include=" + pattern);
        assertEquals(matches, settings.includes(name));
        assertEquals(matches, Settings.of(Collections.singletonMap("ISOBATH_EXCLUDE", pattern), null).excludes(name));
    }

    @Test
    void whatIsIncludedStandsForAllAndWhatIsExcludedIsLeftOut(@TempDir Path folder) throws Exception {
        for (String name : new String[] {"shop/Main", "shop/Prices", "shop/gen/Made", "other/Thing"}) {
            Path file = folder.resolve(name + ".class");
            Files.createDirectories(file.getParent());
            Files.write(file, new byte[] {1});
        }
        assertEquals("[other/Thing, shop/Main, shop/Prices, shop/gen/Made]", found(folder, "", ""));
        assertEquals("[shop/Main, shop/Prices]", found(folder, "shop", "shop.gen"));
        assertEquals("[other/Thing]", found(folder, "other.*,nobody", ""));
        assertEquals("[other/Thing, shop/gen/Made]", found(folder, "", "shop.Main,*.Prices"));
    }

    private static String found(Path folder, String include, String exclude) {
        Map<String, String> environment = new HashMap<>();
        environment.put("ISOBATH_INCLUDE", include);
        environment.put("ISOBATH_EXCLUDE", exclude);
        Settings settings = Settings.of(environment, null);
        return ServiceClasses.find(settings, "shop.Main", folder.toString(), null).keySet().toString();
    }
}
