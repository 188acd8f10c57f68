import { Link } from '@tanstack/react-router'
import { Icon, type IconName } from '../look/icons.tsx'
import { useHolders } from '../session/holders.ts'
import { Instance } from '../session/instance.tsx'
import { useStars } from '../session/stars.ts'
import { useUploads } from '../upload/queue.ts'
import { type PlainId, t } from '../words/words.ts'
import { openPalette } from './palette-state.ts'

type To = '/' | '/r' | '/transfers' | '/connect' | '/access' | '/system' | '/me'

const everybody: readonly (readonly [to: To, icon: IconName, name: PlainId])[] = [
  ['/', 'home', 'nav.home'],
  ['/r', 'box', 'nav.repositories'],
  ['/transfers', 'transfers', 'nav.transfers'],
  ['/connect', 'plug', 'nav.connect'],
]

const administrators: typeof everybody = [
  ['/access', 'people', 'nav.access'],
  ['/system', 'gauge', 'nav.system'],
]

/** The pages that this tab has any right to: destinations that are closed are absent. */
const usePages = (): typeof everybody => {
  const { session, keys } = useHolders()
  const looksAfter = [session, ...keys].some(
    (holder) =>
      holder !== null &&
      (holder.administrator || holder.permissions.administration.length > 0 || holder.permissions.system.length > 0),
  )
  return looksAfter ? [...everybody, ...administrators] : everybody
}

export const Side = () => {
  const { session } = useHolders()
  const pages = usePages()
  const stars = useStars()
  const open = useUploads().filter(({ state }) => state !== 'done' && state !== 'cancelled').length
  return (
    <aside className="side">
      <Link to="/" className="brand" aria-label={t('nav.brand')}>
        <span className="word-mark">svc</span>
        <Instance />
      </Link>
      <button type="button" className="find" onClick={openPalette} aria-label={t('palette.open')}>
        <Icon name="search" />
        <span>{t('palette.find')}</span>
        <kbd>{/Mac/.test(navigator.platform) ? '⌘K' : 'Ctrl K'}</kbd>
      </button>
      <nav className="nav" aria-label={t('nav.main')}>
        {pages.map(([to, icon, name]) => (
          <Link key={to} to={to} activeOptions={{ exact: to === '/' }} title={t(name)}>
            <Icon name={icon} size={20} />
            <span className="label">{t(name)}</span>
            {to === '/transfers' && open > 0 ? <span className="tag accent badge">{open}</span> : null}
          </Link>
        ))}
      </nav>
      {stars.length === 0 ? null : (
        <nav className="starred" aria-label={t('nav.starred')}>
          <h2>{t('nav.starred')}</h2>
          {stars.map((repository) => (
            <Link key={repository} to="/r/$repository" params={{ repository }}>
              {repository}
            </Link>
          ))}
        </nav>
      )}
      <nav className="nav rest" aria-label={t('nav.you')}>
        <Link to="/me" title={session?.name ?? t('nav.you')}>
          <Icon name="shield" size={20} />
          <span className="label">{session?.name ?? t('nav.you')}</span>
        </Link>
      </nav>
    </aside>
  )
}

export const BottomBar = () => (
  <nav className="bottom" aria-label={t('nav.main')}>
    {[...usePages().filter(([to]) => to !== '/connect'), ['/me', 'shield', 'nav.you'] as const].map(
      ([to, icon, name]) => (
        <Link key={to} to={to} activeOptions={{ exact: to === '/' }}>
          <Icon name={icon} size={20} />
          <span>{t(name === 'nav.repositories' ? 'nav.repositoriesShort' : name)}</span>
        </Link>
      ),
    )}
  </nav>
)
