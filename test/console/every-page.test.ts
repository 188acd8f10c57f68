import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { freshVault, removeVault, takePoint } from '../harness/backups.ts'
import { faultsInBothThemes, openBrowser, tokenIn, visitAs } from '../harness/browser.ts'
import { closeConnections } from '../harness/client.ts'
import { onSqlite } from '../harness/engines.ts'
import { type Looked, lookAtAllOf, lookAtOpen, titlesInSources } from '../harness/every-dialog.ts'
import { emptyLists, failing, goTo, movingIn, routesOf, speakLonger, tooWide } from '../harness/every-page.ts'
import { addKey, byPointer } from '../harness/hands.ts'
import { createPerson, grant } from '../harness/people.ts'
import { openRichCatalog, type RichCatalog } from '../harness/rich-catalog.ts'

after(closeConnections)

let browser: Browser
before(async () => {
  browser = await openBrowser()
})
after(() => browser.close())

// What a page looks like is the same on every engine.
onSqlite((engine) => {
  describe('every page of the console', () => {
    let rich: RichCatalog
    let vault: string
    /** By the paths of the router: where something is to be seen on each. */
    let addresses: Readonly<Record<string, readonly string[]>>
    before(async () => {
      vault = await freshVault(engine)
      rich = await openRichCatalog(engine, { SVC_BACKUP_VAULT: vault })
      const { service } = rich.catalog
      const admin = await createPerson(service, 'admin', true)
      for (const repository of ['one', 'two']) await grant(service, admin, repository, 'write')
      const point = await takePoint(service, vault)
      assert.equal(point.state, 'completed', JSON.stringify(point))
      const told = async (path: string) => (await service.ask({ path, credential: service.recoveryKey })).json.items
      const files = rich.questions['getArtifact']?.map(({ path }) => path.split('/').at(-1)) ?? []
      const [account] = await told('/api/v1/service-accounts')
      const [kept] = await told('/api/v1/backup/points')
      const one = (rest: string): string => `/r/one/${rest}`
      addresses = {
        '/': ['/'],
        '/search': ['/search?q=tool', '/search?q=nothing-like-it'],
        '/r': ['/r'],
        '/r/$repository': ['/r/two'],
        '/r/$repository/files/$': [one('files/'), one('files/notes/')],
        '/r/$repository/file/$': [
          one('file/notes/read me.txt'),
          one('file/notes/read me.txt?tab=history'),
          one('file/empty'),
        ],
        '/r/$repository/artifacts': [one('artifacts'), one('artifacts?view=deleted')],
        '/r/$repository/artifacts/$id': files
          .slice(0, 2)
          .flatMap((id) =>
            ['', '?tab=content', '?tab=history', '?tab=attached', '?tab=kept'].map((tab) =>
              one(`artifacts/${id}${tab}`),
            ),
          ),
        '/r/$repository/packages': [one('packages'), one('packages?name=Tool&group=a/b&version=1.0.0')],
        '/r/$repository/images': [
          one('images'),
          one('images?image=team/app'),
          one('images?image=team/app&reference=v1'),
          one('images?image=team/app&reference=v1&tab=history'),
        ],
        '/r/$repository/npm': [
          one('npm'),
          one('npm?package=@acme/app'),
          one('npm?package=@acme/app&version=1.0.0'),
          one('npm?package=@acme/app&version=1.0.0&tab=history'),
        ],
        '/r/$repository/lfs': [one('lfs')],
        '/r/$repository/stages': [one('stages'), one('stages?stage=approved')],
        '/r/$repository/activity': [one('activity'), one('activity?kind=promotions')],
        '/r/$repository/storage': ['usage', 'policy', 'events'].map((tab) => one(`storage?tab=${tab}`)),
        '/r/$repository/settings': [one('settings'), '/r/two/settings'],
        '/transfers': ['/transfers'],
        '/connect': ['/connect', '/connect?client=github&repository=one'],
        '/access': ['groups', 'people', 'services', 'matrix&repository=one', 'explain&who=reader&repository=one'].map(
          (tab) => `/access?tab=${tab}`,
        ),
        '/access/services/$id': [`/access/services/${account.id}`],
        '/system': ['overview', 'uploads', 'webhooks', 'audit'].map((tab) => `/system?tab=${tab}`),
        '/system/backups': ['/system/backups'],
        '/system/backups/$id': [`/system/backups/${kept.id}`],
        '/me': ['/me'],
        '/nowhere': ['/nowhere'],
      }
    })
    after(async () => {
      await rich.catalog.close()
      await removeVault(vault)
    })

    const open = async (
      name: string,
      options: Parameters<typeof visitAs>[3],
      first?: (page: Page) => Promise<void>,
    ) => {
      const { service } = rich.catalog
      const opened = await visitAs(browser, service, name, { reducedMotion: 'reduce', ...options })
      await first?.(opened.page)
      await opened.page.goto(`${service.url}/console/me`)
      await opened.page.locator('main h1').waitFor()
      return opened
    }
    /** Administrators and the keys of operators see what others do not. */
    const useKeys = async (page: Page): Promise<void> => {
      for (const secret of [rich.catalog.service.recoveryKey, rich.catalog.keeper]) {
        await addKey(byPointer, page, secret)
        await page.getByRole('dialog').waitFor({ state: 'hidden' })
      }
    }
    const all = (): string[] => Object.values(addresses).flat()
    const oneOfEach = (): string[] => Object.values(addresses).flatMap((each) => each.slice(0, 1))

    it('is among those that are looked at', async () => {
      const { context, page } = await open('admin', {})
      assert.deepEqual(
        await routesOf(page),
        Object.keys(addresses)
          .filter((path) => path !== '/nowhere')
          .sort(),
      )
      await context.close()
    })

    for (const [state, name, set] of [
      ['holds much', 'admin', null],
      ['holds nothing', 'admin', emptyLists],
      ['fails', 'admin', failing],
      ['is closed to whoever may only read', 'reader', null],
    ] as const)
      it(`that ${state} is open to everybody, light and dark`, async () => {
        const { context, page, faults } = await open(name, {})
        if (name === 'admin') await useKeys(page)
        await set?.(page)
        const found: string[] = []
        for (const path of state === 'holds much' ? all() : oneOfEach()) {
          await goTo(page, path)
          for (const fault of await faultsInBothThemes(page)) found.push(`${path} ${fault}`)
          for (const moving of await movingIn(page)) found.push(`${path} moves: ${moving}`)
        }
        assert.deepEqual(found, [])
        assert.deepEqual(faults, [])
        await page.unrouteAll({ behavior: 'ignoreErrors' })
        await context.close()
      })

    it('opens nothing over it that is closed to somebody, light and dark', async () => {
      const { context, page, faults } = await open('admin', {})
      await useKeys(page)
      const looked: Looked = { titles: new Set(), faults: [] }
      // Whatever is pressed, nothing changes; secrets are made, since only then are they shown.
      const makes = /\/auth\/tokens$|\/service-accounts\/[^/]+\/keys$|\/auth\/login$/
      await page.route(
        (url) => !makes.test(url.pathname),
        (route) =>
          route.request().method() === 'GET'
            ? route.fallback()
            : route.fulfill({
                status: 403,
                json: { code: 'permission_missing', detail: 'Not now.', requestId: 'one' },
              }),
      )
      for (const paths of Object.values(addresses)) await lookAtAllOf(page, paths, looked)
      const [service] = addresses['/access/services/$id'] ?? []
      for (const [path, button] of [
        ['/me', 'New token'],
        [service ?? '', 'New key'],
      ] as const) {
        await goTo(page, path)
        await page.getByRole('button', { name: button }).click()
        await page.getByRole('dialog').getByLabel('Name').fill('shown')
        await page.keyboard.press('Enter')
        const kept = page.getByRole('button', { name: 'I have stored it' })
        await kept.waitFor()
        await lookAtOpen(page, looked, path)
        await kept.click()
      }
      await goTo(page, '/r/one/files/')
      await page.getByTestId('files').setInputFiles({ name: 'x', mimeType: 'text/plain', buffer: Buffer.from('x') })
      await page.getByRole('button', { name: /^Send / }).waitFor()
      await lookAtOpen(page, looked, 'files that are dropped')
      await page.getByRole('button', { name: /^Send / }).click()
      await goTo(page, '/transfers')
      await page.getByRole('button', { name: 'Why' }).click()
      await page.getByRole('dialog', { name: 'x' }).waitFor()
      await lookAtOpen(page, looked, 'an upload that failed')
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'hidden' })
      for (const [key, name] of [
        ['?', 'Keys'],
        ['Control+K', 'Go anywhere'],
      ] as const) {
        await page.keyboard.press(key)
        await page.getByRole('dialog', { name }).waitFor()
        await lookAtOpen(page, looked, key)
        await page.keyboard.press('Escape')
        await page.getByRole('dialog').waitFor({ state: 'hidden' })
      }
      await rich.catalog.service.ask({ method: 'POST', path: '/api/v1/auth/logout', credential: await tokenIn(page) })
      await page.getByRole('link', { name: 'Repositories' }).first().click()
      await page.getByRole('dialog', { name: 'Sign in again' }).waitFor()
      await lookAtOpen(page, looked, 'a session that ended')
      const titles = [...looked.titles]
      const unseen = [...titlesInSources()].filter(([, title]) => !titles.some((each) => title.test(each)))
      assert.deepEqual(
        unseen.map(([where]) => where),
        [],
        titles.join('\n'),
      )
      assert.deepEqual(looked.faults, [])
      assert.deepEqual(faults, [])
      await page.unrouteAll({ behavior: 'ignoreErrors' })
      await context.close()
    })

    for (const [language, options, first] of [
      ['Russian', { locale: 'ru' }, null],
      ['words that are all longer than ours', {}, speakLonger],
    ] as const)
      it(`fits its window in ${language}, narrow, wide, and at twice the size`, async () => {
        const { context, page, faults } = await open('admin', options, first ?? undefined)
        const found: string[] = []
        for (const path of all()) {
          await goTo(page, path)
          for (const width of [360, 640, 768, 1440]) {
            await page.setViewportSize({ width, height: 800 })
            const wider = await tooWide(page)
            if (wider > 0) found.push(`${path} is ${wider} px wider than ${width}`)
          }
        }
        assert.deepEqual(found, [])
        assert.deepEqual(faults, [])
        await context.close()
      })
  })
})
