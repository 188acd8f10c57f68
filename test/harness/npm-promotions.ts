import { before } from 'node:test'
import type { Told } from './client.ts'
import type { TestEngine } from './engines.ts'
import { expectAnswer } from './expect.ts'
import { npmPublisher, npmSite } from './npm-packages.ts'
import { createRepository, grant } from './people.ts'
import { inDatabase } from './rows.ts'

/** What is asked of a promotion, to `second` unless it says where. */
export interface Wish {
  readonly package: string
  readonly version: string
  readonly [more: string]: unknown
}

const api = '/api/v1/repositories'

/** A site with a second repository, into which its owner promotes from `releases`, and what is to be seen of that. */
export const npmPromotionSite = (engine: TestEngine) => {
  const site = npmSite(engine)
  before(async () => {
    await createRepository(site.service, 'second')
    await grant(site.service, site.owner, 'second', 'write')
  })
  const expect = (given: Parameters<typeof expectAnswer>[1], status = 200, code?: string): Promise<Told> =>
    expectAnswer(site.service, { credential: site.owner.token, ...given }, status, code)
  return {
    site,
    expect,
    get there() {
      return npmPublisher(site.service, site.owner.token, 'second')
    },
    promote: async (wish: Wish, status = 201, code?: string) =>
      (await expect({ path: `${api}/releases/npm/promote`, json: { target: 'second', ...wish } }, status, code)).json,
    async stage(name: string, version: string, ...stages: string[]): Promise<void> {
      for (const stage of stages) {
        const json = { package: name, version }
        await expect({ method: 'PUT', path: `${api}/releases/npm/stages/${stage}`, json })
      }
    },
    /** What the promotion journal tells of a version. */
    events: async (repository: string, name: string, version: string) =>
      (await expect({ path: `${api}/${repository}/npm/promotions?package=${name}&version=${version}` })).json.items,
    /** What the journal of a repository tells last. */
    told: async (repository: string, name: string): Promise<string[]> => {
      const rows = await inDatabase(site.service, (q) =>
        q
          .selectFrom('journal')
          .select(['action', 'detail'])
          .where('repository', '=', repository)
          .where('detail', 'like', `${name}@%`)
          .orderBy('sequence')
          .execute(),
      )
      return rows.map(({ action, detail }) => `${action} ${detail}`)
    },
    bytesIn: async (repository: string): Promise<number> => {
      const [row] = await inDatabase(site.service, (q) =>
        q.selectFrom('repositories').select('published_bytes').where('id', '=', repository).execute(),
      )
      return row?.published_bytes ?? 0
    },
  }
}
