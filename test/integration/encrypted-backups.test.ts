import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { globSync } from 'node:fs'
import { mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { newIdentity, recipientOf } from '../../src/adapters/age/age-cipher.ts'
import { verifyDeep } from '../../src/features/operating/backups/verify.ts'
import { day } from '../../src/kernel/units.ts'
import { findPointFor } from '../../src/main/restoring.ts'
import { freshVault, removeVault, restoreTo, roomOf, takePoint } from '../harness/backups.ts'
import { Catalog } from '../harness/catalog.ts'
import { closeConnections } from '../harness/client.ts'
import { onSqlite } from '../harness/engines.ts'
import { expectAnswer } from '../harness/expect.ts'
import { digestOf } from '../harness/inspection.ts'
import { inTheStore } from '../harness/kept-inline.ts'
import { placeLike } from '../harness/moving.ts'
import { startService } from '../harness/service.ts'

after(closeConnections)

onSqlite((engine) => {
  describe('backups that are encrypted', () => {
    let catalog: Catalog
    let vault: string
    let folder: string
    let key: string
    const large = Buffer.from('a secret of 2 MiB '.repeat(120_000))
    const small = Buffer.from('a small secret')
    let writing: Readonly<Record<string, string>>
    let reading: Readonly<Record<string, string>>

    before(async () => {
      vault = await freshVault(engine)
      folder = vault.slice('file:'.length)
      key = join(await mkdtemp(join(tmpdir(), 'svc-key-')), 'key.txt')
      const identity = await newIdentity()
      await writeFile(key, `# public key: ${await recipientOf(identity)}\n${identity}\n`)
      const recipients = { SVC_BACKUP_RECIPIENT: await recipientOf(identity) }
      catalog = await Catalog.open(engine, { ...inTheStore, SVC_BACKUP_VAULT: vault, ...recipients })
      for (const [path, body] of Object.entries({ large, small }))
        await catalog.expect({ method: 'PUT', path: `/raw/secret-name-${path}`, body }, 201)
      writing = { SVC_DATA_DIR: catalog.service.dataDir, ...recipients }
      reading = { SVC_BACKUP_IDENTITY_FILE: key }
    })
    after(async () => {
      await catalog.close()
      await removeVault(vault)
    })

    const taken = async () => {
      await catalog.pass(day)
      const job = await takePoint(catalog.service, vault, undefined, await roomOf(vault, writing))
      assert.deepEqual([job.state, job.error_code], ['completed', null])
      return String(job.point_id)
    }
    const verified = async (more: Readonly<Record<string, string>>) => {
      const room = await roomOf(vault, more)
      const point = await findPointFor(room, 'latest')
      const deps = { room, pace: async () => {}, goOn: () => {}, told: () => {} }
      return { files: (await verifyDeep(deps, point.id)).files, fault: (await verifyDeep(deps, point.id)).fault }
    }

    it('tell nobody what is in them, neither by what lies there nor by what it is called', async () => {
      await taken()
      const files = globSync(join(folder, '**/*'), { withFileTypes: true }).filter((file) => file.isFile())
      assert.ok(files.length > 10)
      for (const file of files) {
        const path = join(file.parentPath, file.name)
        const bytes = await readFile(path)
        for (const body of [large, small]) {
          assert.ok(!bytes.includes(digestOf(body)) && !path.includes(digestOf(body)), path)
          assert.ok(!bytes.includes(body.subarray(0, 14)), path)
        }
        assert.ok(!bytes.includes('secret-name'), path)
      }
    })

    it('take no secret to go on with, and copy what is new alone', async () => {
      await catalog.expect({ method: 'PUT', path: '/raw/more', body: randomBytes(10_000) }, 201)
      const id = await taken()
      const { newBytes, contentBytes } = await findPointFor(await roomOf(vault), id).then((point) => ({
        newBytes: point.newBytes,
        contentBytes: point.blobs.bytes,
      }))
      assert.ok(newBytes < 300_000 && contentBytes > large.byteLength, `${newBytes} of ${contentBytes}`)
    })

    it('are verified as they lie there without a key, and down to the plain bytes with one', async () => {
      const [without, withKey] = [await verified({}), await verified(reading)]
      assert.deepEqual([without.fault, withKey.fault], [null, null])
      assert.ok(without.files > 10 && withKey.files === without.files)
    })

    it('believe nothing that lies there unless a list of the vault vouches for it', async () => {
      for (const kind of ['blob', 'pack', 'rows', 'list'])
        for (const path of globSync(join(folder, `data/*/*.${kind}*`))) await truncate(path, 100)
      await taken()
      assert.equal((await verified(reading)).fault, null)
      const place = engine.use(await placeLike(catalog.service, engine))
      await restoreTo(place, vault, 'latest', {}, undefined, await roomOf(vault, reading))
      // What was written anew is found again by the next one.
      const { newBytes } = await findPointFor(await roomOf(vault), await taken())
      assert.ok(newBytes < 100_000, `${newBytes}`)
    })

    it('say what repositories took, and nothing more, to who has no key', async () => {
      const asked = (path: string) =>
        catalog.service.ask({ path: `/api/v1/backup/points${path}`, credential: catalog.service.recoveryKey })
      const [point] = (await asked('')).json.items
      const details = (await asked(`/${point.id}`)).json
      assert.ok(details.repositories.some(({ repository }: { repository: string }) => repository === 'one'))
      const contents = await asked(`/${point.id}/contents`)
      assert.deepEqual([contents.status, contents.json.code], [409, 'point_unreadable'])
    })

    it('come back with the key, and without it not at all', async () => {
      const locked = engine.use(await placeLike(catalog.service, engine))
      await assert.rejects(restoreTo(locked, vault), { name: 'BackupLocked' })
      const place = engine.use(await placeLike(catalog.service, engine))
      const room = await roomOf(vault, reading)
      const { findings } = await restoreTo(place, vault, 'latest', {}, undefined, room)
      assert.deepEqual(
        findings.filter(({ kind }) => kind === 'damage'),
        [],
      )
      const restored = await startService(engine, {
        on: place,
        settings: inTheStore,
        roles: { gateway: 'api', worker: false },
      })
      const path = '/api/v1/repositories/one/raw/secret-name-large'
      const got = await expectAnswer(restored, { path, credential: catalog.writer.token }, 200)
      assert.ok(got.bytes.equals(large))
      await restored.stop()
    })

    it('can be brought back by hand, with sha256sum, jq, age and zstd', async () => {
      const { id } = await findPointFor(await roomOf(vault), 'latest')
      const byHand = (script: string): string =>
        execFileSync('bash', ['-euo', 'pipefail', '-c', script], {
          cwd: folder,
          env: { ...process.env, key, point: `points/${id}.json` },
          encoding: 'utf8',
        }).trim()
      const lines = (of: string): string =>
        `head -1 $point | jq -r '${of}' | while read -r f; do age -d -i "$key" "$f" | zstd -dcq; done`

      assert.match(byHand('head -1 $point | sha256sum'), new RegExp(`^${JSON.parse(byHand('tail -1 $point')).sha256} `))
      const rows = byHand(lines('.tables[] | select(.name == "assets").chunks[].file')).split('\n')
      const { artifact_id } = rows.map((row) => JSON.parse(row)).find(({ path }) => path === 'secret-name-large')
      const artifacts = byHand(lines('.tables[] | select(.name == "artifacts").chunks[].file')).split('\n')
      const { sha256 } = artifacts.map((row) => JSON.parse(row)).find((row) => row.id === artifact_id)
      assert.equal(sha256, digestOf(large))
      for (const content of [large, small]) {
        const contents = byHand(lines('.contents[].file')).split('\n')
        const [digest, bytes, offset, file] =
          contents.find((line) => line.startsWith(digestOf(content)))?.split(' ') ?? []
        const plain = `age -d -i "$key" ${file} ${file?.includes('.zst') ? '| zstd -dcq' : ''}`
        const cut = `set +o pipefail; ${plain} | tail -c +${Number(offset) + 1} | head -c ${bytes} | sha256sum`
        assert.match(byHand(cut), new RegExp(`^${digest} `))
      }
      // The list of files, by which anybody can check that all is there, needs no key.
      const check = `head -1 $point | jq -r '.files[].file' | while read -r f; do zstd -dcq "$f"; done | while read -r name bytes sha256; do echo "$sha256  $name"; done | sha256sum --check --quiet`
      assert.equal(byHand(check), '')
    })

    it('go on when the key of the service was lost, and everything is copied anew', async () => {
      await rm(join(catalog.service.dataDir, 'config/backup-key.txt'))
      await taken()
      assert.equal((await verified(reading)).fault, null)
    })
  })
})
