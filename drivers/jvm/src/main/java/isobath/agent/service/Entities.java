package isobath.agent.service;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.objectweb.asm.AnnotationVisitor;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.FieldVisitor;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/**
 * What the JPA entities of the service demand of the columns they are stored in, beyond what the tables demand: a
 * primitive field is never null, nor is one with an initial value, and an enum is one of its constants. A row that breaks this could not have come from the
 * service.
 *
 * <p>Class files are read, never loaded. Names are compared without case and underscores, which is where naming
 * strategies differ.
 */
public final class Entities {
    private static final String[] NO_COLUMN = {"Transient", "OneToMany", "ManyToMany", "ElementCollection", "Embedded", "Convert"};

    /** By table, then by column. */
    private static volatile Map<String, Map<String, Column>> tables = new HashMap<>();
    /** The column of the identifier, by table, where it is one column. */
    private static volatile Map<String, String> ids = new HashMap<>();

    private Entities() {}

    /** What is demanded of a column. */
    private static final class Column {
        boolean isRequired;
        List<String> texts = new ArrayList<>();
        int ordinals;
        /** Bounds of numbers; null for none. */
        Long least;
        Long most;
        boolean isFilled;
        /** The table and the column that it refers to, or null. */
        String[] reference;
    }

    /** One class file. */
    private static final class Read extends ClassVisitor {
        String simpleName;
        String parent;
        boolean isEntity;
        boolean isSuperclass;
        boolean isEnum;
        String table;
        final List<String> constants = new ArrayList<>();
        /** Filled in when all classes are read. */
        String id;
        final Map<String, Member> members = new LinkedHashMap<>();

        Read() {
            super(Opcodes.ASM9);
        }

        @Override
        public void visit(int version, int access, String name, String signature, String parentName, String[] interfaces) {
            simpleName = name.substring(Math.max(name.lastIndexOf('/'), name.lastIndexOf('$')) + 1);
            parent = parentName;
            isEnum = (access & Opcodes.ACC_ENUM) != 0;
        }

        @Override
        public AnnotationVisitor visitAnnotation(String descriptor, boolean visible) {
            String name = persistence(descriptor);
            isEntity |= name.equals("Entity");
            isSuperclass |= name.equals("MappedSuperclass");
            return new Values((key, value) -> table = name.equals("Table") && key.equals("name") ? value.toString() : table);
        }

        @Override
        public FieldVisitor visitField(int access, String name, String descriptor, String signature, Object value) {
            if (isEnum && (access & Opcodes.ACC_ENUM) != 0) {
                constants.add(name);
            }
            if ((access & (Opcodes.ACC_STATIC | Opcodes.ACC_TRANSIENT | Opcodes.ACC_SYNTHETIC)) != 0) {
                return null;
            }
            Member member = members.computeIfAbsent(name, Member::new);
            member.type = Type.getType(descriptor);
            return new FieldVisitor(Opcodes.ASM9) {
                @Override
                public AnnotationVisitor visitAnnotation(String annotation, boolean visible) {
                    return member.annotated(annotation);
                }
            };
        }

        @Override
        public MethodVisitor visitMethod(int access, String name, String descriptor, String signature, String[] exceptions) {
            if (name.equals("<init>") && descriptor.equals("()V")) {
                return new Initializer(members);
            }
            String property = property(name);
            if (property == null || !descriptor.startsWith("()")) {
                return null;
            }
            // Annotations stand at the field or at its getter; what only a getter shows is no column.
            Member member = members.get(property);
            return member == null
                    ? null
                    : new MethodVisitor(Opcodes.ASM9) {
                        @Override
                        public AnnotationVisitor visitAnnotation(String annotation, boolean visible) {
                            return member.annotated(annotation);
                        }
                    };
        }

        private static String property(String getter) {
            int prefix = getter.startsWith("get") ? 3 : getter.startsWith("is") ? 2 : 0;
            boolean isGetter = prefix > 0 && getter.length() > prefix;
            return isGetter ? Character.toLowerCase(getter.charAt(prefix)) + getter.substring(prefix + 1) : null;
        }
    }

    /** The constructor that JPA calls: a field that it sets is not null unless somebody makes it so on purpose. */
    private static final class Initializer extends MethodVisitor {
        private final Map<String, Member> members;
        private boolean isNull;

        Initializer(Map<String, Member> members) {
            super(Opcodes.ASM9);
            this.members = members;
        }

        @Override
        public void visitInsn(int opcode) {
            isNull = opcode == Opcodes.ACONST_NULL;
        }

        @Override
        public void visitFieldInsn(int opcode, String owner, String name, String descriptor) {
            Member member = opcode == Opcodes.PUTFIELD && !isNull ? members.get(name) : null;
            if (member != null) {
                member.isRequired = true;
            }
            isNull = false;
        }

        @Override
        public void visitMethodInsn(int opcode, String owner, String name, String descriptor, boolean isInterface) {
            isNull = false;
        }
    }

    /** A field of an entity, with what its annotations say. */
    private static final class Member {
        String column;
        Type type;
        boolean isRequired;
        boolean isColumn = true;
        boolean isByName;
        boolean isId;
        boolean isToOne;
        boolean isNamed;
        Long least;
        Long most;
        boolean isFilled;

        Member(String name) {
            column = name;
        }

        AnnotationVisitor annotated(String descriptor) {
            isRequired |= isNotNull(descriptor);
            String constraint = constraint(descriptor);
            isFilled |= constraint.equals("NotBlank") || constraint.equals("NotEmpty");
            least = constraint.equals("Positive") ? Long.valueOf(1) : constraint.equals("PositiveOrZero") ? Long.valueOf(0) : least;
            String name = persistence(descriptor);
            isId |= name.equals("Id");
            isToOne |= name.equals("ManyToOne") || name.equals("OneToOne");
            for (String other : NO_COLUMN) {
                isColumn &= !name.equals(other);
            }
            return new Values(
                    (key, value) -> {
                        boolean isBound = key.equals("value") && value instanceof Long;
                        least = isBound && constraint.equals("Min") ? (Long) value : least;
                        most = isBound && constraint.equals("Max") ? (Long) value : most;
                        boolean isOfColumn = name.equals("Column") || name.equals("JoinColumn");
                        if (isOfColumn && key.equals("name")) {
                            column = value.toString();
                            isNamed = true;
                        }
                        isRequired |= isOfColumn && key.equals("nullable") && Boolean.FALSE.equals(value);
                        isRequired |= name.endsWith("ToOne") && key.equals("optional") && Boolean.FALSE.equals(value);
                        isColumn &= !key.equals("mappedBy");
                        isByName |= name.equals("Enumerated") && value.equals("STRING");
                    });
        }

        boolean isPrimitive() {
            return type.getSort() != Type.OBJECT && type.getSort() != Type.ARRAY;
        }
    }

    private interface Value {
        void is(String key, Object value);
    }

    private static final class Values extends AnnotationVisitor {
        private final Value told;

        Values(Value told) {
            super(Opcodes.ASM9);
            this.told = told;
        }

        @Override
        public void visit(String key, Object value) {
            told.is(String.valueOf(key), value);
        }

        @Override
        public void visitEnum(String key, String descriptor, String value) {
            told.is(String.valueOf(key), value);
        }
    }

    private static String persistence(String descriptor) {
        boolean isPersistence = descriptor.startsWith("Ljavax/persistence/") || descriptor.startsWith("Ljakarta/persistence/");
        return isPersistence ? descriptor.substring(descriptor.lastIndexOf('/') + 1, descriptor.length() - 1) : "";
    }

    /** The name of a constraint of validation; empty for others. */
    private static String constraint(String descriptor) {
        boolean isChecked = descriptor.contains("/validation/constraints/") && !descriptor.contains("$");
        return isChecked ? descriptor.substring(descriptor.lastIndexOf('/') + 1, descriptor.length() - 1) : "";
    }

    private static boolean isNotNull(String descriptor) {
        boolean isKotlin = descriptor.equals("Lorg/jetbrains/annotations/NotNull;");
        String name = constraint(descriptor);
        return isKotlin || name.equals("NotNull") || name.equals("NotBlank") || name.equals("NotEmpty");
    }

    /** Learns the entities among the classes of the service, by name with slashes. */
    public static void read(Map<String, byte[]> classes) {
        Map<String, Read> all = new HashMap<>();
        for (Map.Entry<String, byte[]> type : classes.entrySet()) {
            try {
                Read read = new Read();
                new ClassReader(type.getValue()).accept(read, ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
                all.put(type.getKey(), read);
            } catch (RuntimeException unknown) {
                // A class file of a later Java than we can read.
            }
        }
        Map<String, Map<String, Column>> found = new HashMap<>();
        Map<String, String> identified = new HashMap<>();
        all.values().forEach(read -> read.id = id(read, all));
        Set<String> ambiguous = new HashSet<>();
        for (Read entity : all.values()) {
            Read parent = all.get(entity.parent);
            // The rows of an entity that extends another may lie among the other's, where its columns can be empty.
            if (!entity.isEntity || (parent != null && parent.isEntity)) {
                continue;
            }
            String table = table(entity);
            if (found.put(table, columns(entity, all)) != null) {
                ambiguous.add(table);
            }
            identified.put(table, entity.id);
        }
        found.keySet().removeAll(ambiguous);
        identified.keySet().removeAll(ambiguous);
        tables = found;
        ids = identified;
    }

    private static String table(Read entity) {
        return normal(entity.table != null ? entity.table : entity.simpleName);
    }

    /** The only column of the identifier of an entity; null where there are several, or none is known. */
    private static String id(Read entity, Map<String, Read> all) {
        String id = null;
        for (Read level = entity; level != null && (level == entity || level.isSuperclass); level = all.get(level.parent)) {
            for (Member member : level.members.values()) {
                if (member.isId && (id != null || member.isToOne)) {
                    return null;
                }
                id = member.isId ? normal(member.column) : id;
            }
        }
        return id;
    }

    private static Map<String, Column> columns(Read entity, Map<String, Read> all) {
        Map<String, Column> columns = new HashMap<>();
        for (Read level = entity; level != null && (level == entity || level.isSuperclass); level = all.get(level.parent)) {
            for (Member member : level.members.values()) {
                if (!member.isColumn || member.type.getSort() == Type.ARRAY) {
                    continue;
                }
                Column column = new Column();
                column.isRequired = member.isRequired || member.isPrimitive();
                column.least = member.least;
                column.most = member.most;
                column.isFilled = member.isFilled;
                Read type = all.get(member.type.getSort() == Type.OBJECT ? member.type.getInternalName() : "");
                if (type != null && type.isEnum && member.isByName) {
                    column.texts = type.constants;
                } else if (type != null && type.isEnum) {
                    column.ordinals = type.constants.size();
                }
                boolean isReference = member.isToOne && type != null && type.isEntity && type.id != null;
                String name = normal(member.column);
                if (isReference) {
                    name = member.isNamed ? name : name + type.id;
                    // Few relations are optional, though JPA takes all for it that do not say otherwise.
                    column.isRequired |= type != entity;
                    column.reference = new String[] {table(type), type.id};
                }
                columns.putIfAbsent(name, column);
            }
        }
        return columns;
    }

    private static String normal(String name) {
        return name.replace("_", "").replace("\"", "").replace("`", "").toLowerCase();
    }

    private static Column column(String table, String column) {
        Map<String, Column> columns = tables.get(normal(table));
        return columns == null ? null : columns.get(normal(column));
    }

    /** Whether a table is that of another, or a column, however they are written. */
    public static boolean isSame(String one, String other) {
        return normal(one).equals(normal(other));
    }

    /** Whether a column is the identifier of the entity of a table. */
    public static boolean isId(String table, String column) {
        return normal(column).equals(ids.get(normal(table)));
    }

    /** The table and the column that a column refers to, to be compared by {@link #isSame}; null for none. */
    public static String[] reference(String table, String column) {
        Column known = column(table, column);
        return known == null || !ids.containsKey(known.reference == null ? "" : known.reference[0]) ? null : known.reference;
    }

    /** Whether a column is never empty in rows of the service. */
    public static boolean isRequired(String table, String column) {
        Column known = column(table, column);
        return known != null && known.isRequired;
    }

    /** The condition that the values of a column meet in rows of the service, on its quoted name; null for any. */
    public static String check(String table, String column, String quoted, boolean isText) {
        Column known = column(table, column);
        if (known == null) {
            return null;
        }
        List<String> conditions = new ArrayList<>();
        if (isText && known.isFilled) {
            conditions.add(quoted + " <> ''");
        }
        if (isText && !known.texts.isEmpty()) {
            conditions.add(quoted + " IN ('" + String.join("', '", known.texts) + "')");
        }
        if (!isText && known.ordinals > 0) {
            conditions.add(quoted + " BETWEEN 0 AND " + (known.ordinals - 1));
        }
        if (!isText && known.least != null) {
            conditions.add(quoted + " >= " + known.least);
        }
        if (!isText && known.most != null) {
            conditions.add(quoted + " <= " + known.most);
        }
        return conditions.isEmpty() ? null : String.join(" AND ", conditions);
    }
}
