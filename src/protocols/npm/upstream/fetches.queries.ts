import type { Queries, Transaction } from '../../../database/database.ts'

/** What is fetched: a tarball, or, without a version, the document of a package. */
export interface Fetched {
  readonly repository: string
  readonly name: string
  readonly version: string
}

interface Lease extends Fetched {
  readonly holder: string
  readonly until: string
}

/** Takes the lease where nobody has it, its holder is silent since `now`, or it ends later than any may (`never`). */
export const takeFetch = async (
  tx: Transaction,
  { until, ...lease }: Lease,
  { now, never }: { readonly now: string; readonly never: string },
): Promise<boolean> => {
  const taken = await tx
    .insertInto('npm_fetches')
    .values({ ...lease, leased_until: until })
    .onConflict((conflict) =>
      conflict
        .columns(['repository', 'name', 'version'])
        .doUpdateSet({ holder: lease.holder, leased_until: until })
        .where((eb) => eb.or([eb('npm_fetches.leased_until', '<=', now), eb('npm_fetches.leased_until', '>', never)])),
    )
    .returning('holder')
    .executeTakeFirst()
  return taken !== undefined
}

export const renewFetch = async (tx: Transaction, { until, ...lease }: Lease): Promise<void> => {
  await tx
    .updateTable('npm_fetches')
    .set({ leased_until: until })
    .where('repository', '=', lease.repository)
    .where('name', '=', lease.name)
    .where('version', '=', lease.version)
    .where('holder', '=', lease.holder)
    .execute()
}

/** Whether it was still whose it was. */
export const endFetch = async (
  tx: Transaction,
  { repository, name, version, holder }: Omit<Lease, 'until'>,
): Promise<boolean> => {
  const ended = await tx
    .deleteFrom('npm_fetches')
    .where('repository', '=', repository)
    .where('name', '=', name)
    .where('version', '=', version)
    .where('holder', '=', holder)
    .returning('holder')
    .executeTakeFirst()
  return ended !== undefined
}

/** Who fetches it, and until when they have it. */
export const fetchUnderWay = (q: Queries, { repository, name, version }: Fetched) =>
  q
    .selectFrom('npm_fetches')
    .select(['holder', 'leased_until'])
    .where('repository', '=', repository)
    .where('name', '=', name)
    .where('version', '=', version)
    .executeTakeFirst()

/** Leases of processes that died: whoever fetches the same takes them over, and what nobody asks for again goes. */
export const forgetLapsedFetches = async (tx: Transaction, before: string): Promise<void> => {
  await tx.deleteFrom('npm_fetches').where('leased_until', '<', before).execute()
}
