import {
  type CreateTableNode,
  type SelectModifierNode,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import { engineDialect } from '../executor.ts'

/** Lets one query text serve both engines. */
class Compiler extends SqliteQueryCompiler {
  /** Row locks compile to nothing: the one writer of SQLite has locked everything. */
  protected override visitSelectModifier(node: SelectModifierNode): void {
    if (node.modifier === 'Distinct' || node.rawModifier !== undefined) super.visitSelectModifier(node)
  }

  /** Every table is STRICT, so that a column holds what it says, as on PostgreSQL. */
  protected override visitCreateTable(node: CreateTableNode): void {
    super.visitCreateTable(node)
    if (node.selectQuery === undefined) this.append(node.endModifiers?.length ? ', strict' : ' strict')
  }
}

export const sqliteDialect = engineDialect(new SqliteAdapter(), new Compiler(), (db) => new SqliteIntrospector(db))
