import axe from 'axe-core'
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { password } from './people.ts'
import type { Answering } from './service.ts'

/** Debian's Chromium, without a window. As root it has no sandbox of its own to be in. */
export const openBrowser = (args: readonly string[] = []): Promise<Browser> =>
  chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: [...args, ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])],
  })

/** A person's tabs, and whatever went wrong in any of them. */
export interface Visit {
  readonly context: BrowserContext
  readonly page: Page
  /** Scripts that threw, and what the policy of the console had to refuse. */
  readonly faults: string[]
}

const told = (type: string, text: string): boolean =>
  type === 'error' && /Content.Security.Policy|Refused to|TrustedHTML|TrustedScript|Minified React/i.test(text)

/** In the page: what its policy refuses is told, also where the browser itself would say nothing. */
const tellViolations = `addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI, sample }) =>
  console.error('Content-Security-Policy: ' + [violatedDirective, blockedURI, sample].join(' ')))`

export const visit = async (browser: Browser, options: BrowserContextOptions = {}): Promise<Visit> => {
  const context = await browser.newContext({ locale: 'en', viewport: { width: 1280, height: 800 }, ...options })
  context.setDefaultTimeout(20_000)
  const faults: string[] = []
  context.on('console', (message) => {
    if (told(message.type(), message.text())) faults.push(message.text())
  })
  await context.addInitScript(tellViolations)
  context.on('weberror', (error) => faults.push(String(error.error().stack)))
  return { context, page: await context.newPage(), faults }
}

/** Where a service has its session in a tab: one at the root of its host, or below a path of it. */
export const sessionKeyBelow = (prefix: string): string => `svc.session:${prefix}/console/`
const sessionKey = sessionKeyBelow('')

/** Who is signed in already when the first page opens: what that looks like is a journey of its own. */
export const visitAs = async (
  browser: Browser,
  service: Answering,
  name = 'owner',
  { prefix = '', ...options }: BrowserContextOptions & { readonly prefix?: string } = {},
): Promise<Visit> => {
  const opened = await visit(browser, options)
  const path = '/api/v1/auth/login'
  const session = await service.ask({ method: 'POST', path, json: { name, password } })
  // Once: whoever signs out stays out. What a browser shows of its own has no store.
  await opened.context.addInitScript(`if (origin !== 'null' && sessionStorage.getItem('given') === null) {
    sessionStorage.setItem('given', 'yes')
    sessionStorage.setItem('${sessionKeyBelow(prefix)}', ${JSON.stringify(session.text)})
  }`)
  return opened
}

/** The token of who is signed in there. */
export const tokenIn = (page: Page): Promise<string> =>
  page.evaluate((key) => JSON.parse(sessionStorage.getItem(key) ?? '{}').token, sessionKey)

interface Rules {
  readonly type: 'tag' | 'rule'
  readonly values: readonly string[]
}

/** In the page: what axe finds at fault, in words. */
const axeFaults = (rules: Rules, within = 'html'): string =>
  `axe.run(${JSON.stringify(within)}, ${JSON.stringify({ runOnly: rules, resultTypes: ['violations'], preload: false })})
    .then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' +
      nodes.map(({ html, failureSummary }) => html.slice(0, 160) + ' ' + failureSummary).join('\\n  ')))`

const everyRule: Rules = { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa'] }
/** What differs from theme to theme. */
const rulesOfColour: Rules = { type: 'rule', values: ['color-contrast', 'link-in-text-block'] }

/** In the page: until nothing moves that comes to an end. What fades is faint meanwhile, and nobody reads it. */
const atRest = `Promise.all(
  document.getAnimations()
    .filter((each) => each.playState === 'running' && Number.isFinite(each.effect.getComputedTiming().endTime))
    .map((each) => each.finished.catch(() => {})),
)`

const askAxe = async (page: Page, asked: string): Promise<string[]> => {
  await page.evaluate(`${atRest}.then(() => {})`)
  // Once for each document: it is larger than all of the console.
  if ((await page.evaluate('"axe" in globalThis')) === false) await page.evaluate(axe.source)
  const found: unknown = await page.evaluate(asked)
  if (!Array.isArray(found)) throw new Error('axe answered something else')
  return found.map(String)
}

/** What axe finds at fault in what a page shows now. */
export const faultsOfAccess = (page: Page): Promise<string[]> => askAxe(page, axeFaults(everyRule))

/** The same in both themes, of all or of some parts. The page is left in the other one; nothing may move on the way. */
export const faultsInBothThemes = (page: Page, within?: string): Promise<string[]> =>
  askAxe(
    page,
    `(async () => {
      const { dataset } = document.documentElement
      const found = (await ${axeFaults(everyRule, within)}).map((fault) => dataset.mantineColorScheme + ': ' + fault)
      dataset.mantineColorScheme = dataset.mantineColorScheme === 'dark' ? 'light' : 'dark'
      await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))
      return [...found, ...(await ${axeFaults(rulesOfColour, within)}).map((fault) => dataset.mantineColorScheme + ': ' + fault)]
    })()`,
  )

const words = {
  en: { name: 'Name', password: 'Password', signIn: 'Sign in' },
  ru: { name: 'Имя', password: 'Пароль', signIn: 'Войти' },
} as const

/** Signs in at the page for it, as a person would. */
export const signInAt = async (
  page: Page,
  address: string,
  name: string,
  secret: string,
  language: keyof typeof words = 'en',
): Promise<void> => {
  const said = words[language]
  await page.goto(`${address}/console/`)
  await page.getByLabel(said.name).fill(name)
  await page.getByLabel(said.password, { exact: true }).fill(secret)
  await page.getByRole('button', { name: said.signIn }).click()
  await page.locator('.shell').waitFor()
}
