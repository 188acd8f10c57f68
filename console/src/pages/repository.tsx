import { Link, Outlet, useParams, useRouterState } from '@tanstack/react-router'
import { useAsk } from '../contract/asking.ts'
import { isProblem } from '../contract/problem.ts'
import { Icon } from '../look/icons.tsx'
import { Tabs } from '../parts/tabs.tsx'
import { toggleStar, useStars } from '../session/stars.ts'
import { NotFound } from '../shell/not-found.tsx'
import { language, type PlainId, t } from '../words/words.ts'

/** Each with the format of which it has so many, as the card of the repository counts them. */
const tabs = [
  ['/r/$repository/files/$', 'tab.files'],
  ['/r/$repository/artifacts', 'tab.artifacts', 'files'],
  ['/r/$repository/packages', 'tab.packages', 'packages'],
  ['/r/$repository/images', 'tab.images', 'images'],
  ['/r/$repository/npm', 'tab.npm', 'npm'],
  ['/r/$repository/lfs', 'tab.lfs', 'lfs'],
  ['/r/$repository/stages', 'tab.stages'],
  ['/r/$repository/activity', 'tab.activity'],
  ['/r/$repository/storage', 'tab.storage'],
  ['/r/$repository/settings', 'tab.settings'],
] as const satisfies readonly (readonly [string, PlainId, string?])[]

/** What is in a repository, by kind: kinds of which there are none are there all the same, to begin with. */
export const Repository = () => {
  const { repository } = useParams({ from: '/r/$repository' })
  const stars = useStars()
  const path = useRouterState({ select: ({ location }) => location.pathname })
  const card = useAsk('getRepository', { path: { repository } })
  const folder = path.slice(path.indexOf(`/r/${repository}/`)).split('/')[3]
  const at = tabs.findIndex(([to]) => to.split('/')[3] === (folder === 'file' ? 'files' : folder))
  if (isProblem(card.error) && card.error.status === 404) return <NotFound />
  const starred = stars.includes(repository)
  const isFile = path.includes(`/r/${repository}/file/`)
  return (
    <div className="repository">
      <div className="repository-head">
        <div className="line">
          <Link to="/r" className="muted">
            {t('nav.repositories')}
          </Link>
          <span className="muted">/</span>
          <Link to="/r/$repository" params={{ repository }} className="repository-name">
            {repository}
          </Link>
          <button
            type="button"
            className={starred ? 'plain starred-on' : 'plain'}
            aria-pressed={starred}
            aria-label={t('repositories.star', { name: repository })}
            onClick={() => toggleStar(repository)}
          >
            <Icon name="star" />
          </button>
          <Link to="/connect" search={{ repository }} className="line">
            <Icon name="plug" />
            {t('nav.connect')}
          </Link>
        </div>
        <Tabs label={repository} at={at}>
          {tabs.map(([to, name, format]) => (
            <Link
              key={to}
              to={to}
              params={{ repository, _splat: '' }}
              activeOptions={{ exact: false, includeSearch: false }}
              {...(isFile && name === 'tab.files' ? { className: 'active' } : {})}
            >
              {t(name)}
              <CountOf of={card.data?.counts.find((each) => each.format === format)} />
            </Link>
          ))}
        </Tabs>
      </div>
      <Outlet />
    </div>
  )
}

/** For who looks: the card says the same in words. */
const CountOf = ({ of }: { readonly of: { readonly count: number; readonly isMore: boolean } | undefined }) =>
  of === undefined ? null : (
    <span className="count" aria-hidden="true">
      {of.count.toLocaleString(language())}
      {of.isMore ? '+' : ''}
    </span>
  )
