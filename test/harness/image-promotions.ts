import assert from 'node:assert/strict'
import type { Ask, Told } from './client.ts'
import type { imageSite, Pushed } from './images.ts'
import { inDatabase } from './rows.ts'

/** What is asked of a promotion, to `second` unless it says where. */
export interface Wish {
  readonly image: string
  readonly reference: string
  readonly [more: string]: unknown
}

const api = '/api/v1/repositories'

/** Promotions from `releases`, on a site of images, and what is to be seen of them. */
export const imagePromotions = (site: ReturnType<typeof imageSite>) => {
  const { expect } = site

  const promoting = (wish: Wish, from = 'releases'): Ask => ({
    path: `${api}/${from}/images/promote`,
    json: { target: 'second', ...wish },
  })

  const promote = async (wish: Wish, status = 201, code?: string): Promise<Told['json']> => {
    const told = await site.ask(promoting(wish))
    assert.equal(told.status, status, told.text)
    if (code !== undefined) assert.equal(told.json.code, code, told.text)
    return told.json
  }

  const isThere = async (image: string, { text }: Pushed, reference: string): Promise<void> => {
    assert.equal((await expect({ path: `/v2/${image}/manifests/${reference}` }, 200)).text, text)
  }

  const isGone = (image: string, reference: string): Promise<Told> =>
    expect({ path: `/v2/${image}/manifests/${reference}` }, 404)

  /** What the promotion journal tells of an image. */
  const events = async (repository: string, query: string): Promise<Told['json'][]> =>
    (await expect({ path: `${api}/${repository}/images/promotions?${query}` }, 200)).json.items

  const bytesIn = async (repository: string): Promise<number> => {
    const [row] = await inDatabase(site.service, (q) =>
      q.selectFrom('repositories').select('published_bytes').where('id', '=', repository).execute(),
    )
    return row?.published_bytes ?? 0
  }

  return { promoting, promote, isThere, isGone, events, bytesIn }
}

/** What an image takes in a repository that has nothing of it: manifest, config and layers. */
export const sizeOf = ({ text }: Pushed): number => {
  const { config, layers } = JSON.parse(text)
  return [config, ...layers].reduce((sum, { size }) => sum + size, text.length)
}
