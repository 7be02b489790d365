package isobath.agent.sql;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** A table of the service, by its name. */
final class Table {
    final String catalog;
    final String schema;
    final String name;
    /** Whether it is not in the schema in which plain names are looked for. */
    boolean isElsewhere;

    Table(String catalog, String schema, String name) {
        this.catalog = catalog;
        this.schema = schema;
        this.name = name;
    }

    /** All tables that hold rows of the service, none of the database's own. */
    static List<Table> all(Connection connection) throws SQLException {
        List<Table> all = new ArrayList<>();
        DatabaseMetaData about = connection.getMetaData();
        String catalog = connection.getCatalog();
        String own = connection.getSchema();
        try (ResultSet tables = about.getTables(catalog, null, "%", null)) {
            while (tables.next()) {
                String type = String.valueOf(tables.getString("TABLE_TYPE")).toUpperCase();
                Table table = new Table(catalog, tables.getString("TABLE_SCHEM"), tables.getString("TABLE_NAME"));
                table.isElsewhere = own != null && !own.equals(table.schema);
                if (type.endsWith("TABLE") && !type.contains("SYSTEM") && !isSystem(table.schema)) {
                    all.add(table);
                }
            }
        }
        return all;
    }

    /** The name with its schema, as SQL writes it. */
    String full() {
        return schema == null ? quoted(name) : quoted(schema) + "." + quoted(name);
    }

    static String quoted(String name) {
        return '"' + name.replace("\"", "\"\"") + '"';
    }

    private static boolean isSystem(String schema) {
        if (schema == null) {
            return false;
        }
        String name = schema.toUpperCase();
        return name.startsWith("INFORMATION_SCHEMA") || name.startsWith("SYS") || name.startsWith("PG_") || name.startsWith("NULLID");
    }
}
