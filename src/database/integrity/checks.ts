import { damage, type Finding } from '../../kernel/finding.ts'
import { findingsMax } from '../../kernel/limits/upkeep.ts'
import type { Queries } from '../database.ts'
import {
  dangling,
  inDeletedRepositories,
  misnumbered,
  namesBesideKeys,
  notJson,
  publishedAndDeleted,
} from './integrity.queries.ts'
import { jsonColumns } from './json-columns.ts'
import { relations } from './relations.ts'
import { numberings } from './sequences.ts'

/**
 * Proves what can be said of tables without knowing what they are for: that rows name rows that are there, that JSON is
 * JSON, that what is numbered has no gaps. The schema keeps some of it while a service writes; not from whoever writes
 * past it, nor from a disk that forgets. A statement for each relation, of which the first findings are told.
 */
export async function* checkRelations(q: Queries): AsyncGenerator<Finding> {
  for (const relation of relations)
    for (const names of await dangling(q, relation, findingsMax))
      yield damage(
        `a row of ${relation.table} names ${relation.columns.join(', ')} ${names}, which ${relation.to.map(({ table }) => table).join(' or ')} does not have`,
      )
  for (const id of await publishedAndDeleted(q, findingsMax))
    yield damage(`artifact ${id} is published and deleted at once`)
  for (const table of [
    'artifacts',
    'claims',
    'group_grants',
    'npm_cached_packages',
    'npm_packages',
    'npm_upstreams',
    'npm_versions',
    'oci_blobs',
    'oci_images',
    'oci_immutable_tags',
    'storage_policies',
    'uploads',
  ] as const)
    for (const id of await inDeletedRepositories(q, table, findingsMax))
      yield damage(`repository ${id} is deleted, and there are ${table} in it`)
}

/** Proves that what is read as JSON can be. */
export async function* checkJson(q: Queries): AsyncGenerator<Finding> {
  for (const each of jsonColumns)
    for (const names of await notJson(q, each, findingsMax))
      yield damage(
        `${each.table}: ${each.column} of ${names} is no JSON ${each.form}${each.ofStrings ? ' of texts' : ''}`,
      )
}

/** Proves that revisions and positions go up from the first by one, and that names are found by their keys. */
export async function* checkNumbers(q: Queries): AsyncGenerator<Finding> {
  for (const numbering of numberings)
    for (const names of await misnumbered(q, numbering, findingsMax))
      yield damage(`${numbering.table}: a ${numbering.number} of ${names} is missing`)
  for (const table of ['access_groups', 'accounts', 'service_accounts'] as const)
    for (const name of await namesBesideKeys(q, table, findingsMax))
      yield damage(`${table}: ${name} is not found by its name`)
}
