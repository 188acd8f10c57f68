import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { artifactReaders, artifactsOf, nobody } from '../harness/artifact-readers.ts'
import { closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { newFile, openUpload, publish, uploadsOf } from '../harness/publishing.ts'

after(closeConnections)

forEachEngine((engine) => {
  const site = artifactReaders(engine)
  const { serviceKey, get, head, refused, published } = site

  describe('a record', () => {
    it('is what the session said, with the original description', async () => {
      const file = newFile('described', 'described', { labels: ['z', 'a', 'z'], metadata: { b: '', a: '\u{1f600}' } })
      const opened = await openUpload(site.service, site.writer.token, 'files', file.descriptor)
      const upload = String(opened.headers.location)
      const sent = await site.service.ask({
        method: 'PUT',
        path: `${upload}/content`,
        credential: site.writer.token,
        headers: { 'content-type': 'application/octet-stream' },
        body: file.bytes,
      })
      const told = await get(`${artifactsOf('files')}/${opened.json.id}`)
      assert.equal(told.status, 200)
      assert.deepEqual(told.json, sent.json)
      assert.deepEqual(told.json, { ...opened.json, status: 'available' })
      assert.deepEqual(told.json.descriptor, file.descriptor)
      const again = await head(`${artifactsOf('files')}/${opened.json.id}`)
      assert.equal(again.status, 200)
      assert.equal(again.headers['content-length'], told.headers['content-length'])
    })

    it('is missing while pending, when cancelled, elsewhere, and for those who do not see the repository', async () => {
      const { descriptor } = newFile('unfinished', 'unfinished')
      const pending = await openUpload(site.service, site.writer.token, 'files', descriptor)
      const cancelled = await openUpload(site.service, site.writer.token, 'files', descriptor)
      const gone = String(cancelled.headers.location)
      assert.equal(
        (await site.service.ask({ method: 'DELETE', path: gone, credential: site.writer.token })).status,
        200,
      )
      const there = await publish(site.service, site.writer.token, 'other', newFile('there', 'there'))
      const hidden = await publish(site.service, site.writer.token, 'hidden', newFile('hidden', 'hidden'))
      for (const [path, credential] of [
        [`${artifactsOf('files')}/${pending.json.id}`, site.writer.token],
        [`${artifactsOf('files')}/${cancelled.json.id}`, site.writer.token],
        [`${artifactsOf('files')}/${there}`, site.writer.token],
        [`${artifactsOf('files')}/${nobody}`, site.writer.token],
        [`${artifactsOf('hidden')}/${hidden}`, site.reader.token],
        [`${artifactsOf('files')}/${hidden}`, site.reader.token],
        [`${artifactsOf('missing')}/${there}`, site.writer.token],
        [`${artifactsOf('other')}/${there}`, site.stranger.token],
        [`${artifactsOf('other')}/${there}`, site.service.recoveryKey],
        [`${artifactsOf('other')}/${there}`, serviceKey],
      ] as const)
        for (const end of ['', '/content']) {
          const told = await get(path + end, {}, credential)
          // The recovery key is not in the file that the setting names.
          if (credential === site.service.recoveryKey) refused(told, 401, 'credential_invalid')
          else refused(told, 404, 'not_found')
        }
      for (const end of ['', '/content']) {
        refused(await site.service.ask({ path: `${artifactsOf('other')}/${there}${end}` }), 401, 'credential_missing')
        const told = await get(`${artifactsOf('other')}/${there}0${end}`)
        refused(told, 400, 'invalid_request')
        assert.equal(told.json.details[0].pointer, '/path/id')
      }
      const { items } = (await get(`${artifactsOf('files')}?limit=100`)).json
      const ids = items.map(({ id }: { id: string }) => id)
      for (const { json } of [pending, cancelled]) assert.equal(ids.includes(json.id), false)
      assert.equal((await get(`${artifactsOf('other')}/${there}`)).status, 200)
    })

    it('is seen by others than its creator, whose session is not', async () => {
      const path = await published(newFile('shared', 'shared'))
      assert.equal((await get(path)).status, 200)
      refused(await get(path.replace(artifactsOf('files'), uploadsOf('files'))), 403, 'permission_missing')
    })
  })

  describe('the list', () => {
    const ids: string[] = []
    before(async () => {
      ids.length = 0
      for (let index = 0; index < 7; index++)
        ids.push(await publish(site.service, site.writer.token, 'paged', newFile(`file ${index}`, `file ${index % 3}`)))
    })
    const page = async (query: string): Promise<{ items: string[]; next: string | null }> => {
      const told = await get(`${artifactsOf('paged')}${query}`)
      assert.equal(told.status, 200, told.text)
      return { items: told.json.items.map(({ id }: { id: string }) => id), next: told.json.next }
    }

    it('holds the records in the order of their ids, which is that of their creation', async () => {
      assert.deepEqual(ids, ids.toSorted())
      assert.deepEqual(await page(''), { items: ids, next: null })
      const { items } = (await get(artifactsOf('paged'))).json
      for (const item of items) assert.deepEqual(item, (await get(`${artifactsOf('paged')}/${item.id}`)).json)
    })

    it('comes in pages of any size, with next whenever a page is full, so that the last may be empty', async () => {
      for (let limit = 1; limit <= 9; limit++) {
        const seen: string[] = []
        let pages = 0
        let next: string | null = null
        do {
          const one: { items: string[]; next: string | null } = await page(
            `?limit=${limit}${next === null ? '' : `&after=${next}`}`,
          )
          assert.equal(one.next, one.items.length === limit ? one.items.at(-1) : null)
          seen.push(...one.items)
          next = one.next
          pages += 1
        } while (next !== null)
        assert.deepEqual(seen, ids)
        assert.equal(pages, Math.floor(ids.length / limit) + 1)
      }
    })

    it('goes on after any id, whether or not it is there', async () => {
      assert.deepEqual(await page(`?after=${nobody}`), { items: ids, next: null })
      assert.deepEqual(await page(`?after=${ids[2]}&limit=2`), { items: ids.slice(3, 5), next: ids[4] })
      assert.deepEqual(await page(`?after=${ids.at(-1)}`), { items: [], next: null })
      assert.deepEqual(await page('?after=ffffffff-ffff-ffff-ffff-ffffffffffff'), { items: [], next: null })
    })

    it('is empty where there is nothing', async () => {
      assert.deepEqual((await get(artifactsOf('empty'))).json, { items: [], next: null })
    })

    it('has pages of 50 unless asked, and of 100 at most', async () => {
      const many: string[] = []
      for (let index = 0; index < 100; index++)
        many.push(await publish(site.service, site.writer.token, 'exact', newFile(`${index}`, `${index}`)))
      const list = async (query: string) => (await get(`${artifactsOf('exact')}${query}`, {}, site.writer.token)).json
      const half = await list('')
      assert.deepEqual([half.items.length, half.next], [50, many[49]])
      const whole = await list('?limit=100')
      assert.deepEqual([whole.items.length, whole.next], [100, many[99]])
      assert.deepEqual(await list(`?limit=100&after=${many[99]}`), { items: [], next: null })
    })

    it('refuses other limits, cursors and parameters', async () => {
      const of = (query: string): Promise<Told> => get(`${artifactsOf('paged')}?${query}`)
      for (const limit of ['0', '101', '-1', '1.5', '01', '+1', '', 'x', '1e1', '0x1', '99999999999999999999']) {
        const told = await of(`limit=${encodeURIComponent(limit)}`)
        refused(told, 400, 'invalid_request')
        assert.equal(told.json.details[0].pointer, '/query/limit', limit)
      }
      for (const cursor of ['', 'x', nobody.slice(1), `${nobody}0`, 'FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFG']) {
        const told = await of(`after=${cursor}`)
        refused(told, 400, 'invalid_request')
        assert.equal(told.json.details[0].pointer, '/query/after', cursor)
      }
      for (const query of ['limit=1&limit=1', `after=${nobody}&after=${nobody}`, 'before=1', 'Limit=1'])
        refused(await of(query), 400, 'invalid_request')
    })

    it('is for those who may read', async () => {
      refused(await get(artifactsOf('paged'), {}, site.stranger.token), 404, 'not_found')
      refused(await get(artifactsOf('hidden')), 404, 'not_found')
      refused(await get(artifactsOf('missing')), 404, 'not_found')
      refused(await site.service.ask({ path: artifactsOf('paged') }), 401, 'credential_missing')
    })
  })
})
