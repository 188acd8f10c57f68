import { TextInput } from '@mantine/core'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useAsk, useAskAll, usePages } from '../contract/asking.ts'
import type { Answer } from '../contract/call.ts'
import { Icon } from '../look/icons.tsx'
import { Page, Section } from '../parts/page.tsx'
import { RepositoryCard } from '../parts/repository-card.tsx'
import { Empty, Shown } from '../parts/states.tsx'
import { Moment, Size, shownAs, Written } from '../parts/values.tsx'
import { useHolders } from '../session/holders.ts'
import { useStars } from '../session/stars.ts'
import { said, t } from '../words/words.ts'

/** What one comes for: to find something, to go on with something, and what needs a person. */
export const Home = () => {
  const { session } = useHolders()
  const navigate = useNavigate()
  const [text, setText] = useState('')
  return (
    <Page title={session === null ? t('home.title') : t('home.hello', { name: session.name })}>
      <form
        className="filters"
        onSubmit={(event) => {
          event.preventDefault()
          if (text.trim() !== '') void navigate({ to: '/search', search: { q: text.trim() } })
        }}
      >
        <TextInput
          className="grow widest"
          size="md"
          label={t('home.find')}
          description={t('home.hint')}
          leftSection={<Icon name="search" />}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
      </form>
      <Attention />
      <div className="aside">
        <div className="lines">
          <Newest />
          <Repositories />
        </div>
        <Own />
      </div>
    </Page>
  )
}

const Repositories = () => {
  const stars = useStars()
  const all = usePages('listRepositories', () => ({ query: { limit: 100 } }))
  const rows = all.data?.pages.flatMap(({ items }) => items) ?? []
  const shown = [...rows]
    .sort((one, other) => Number(stars.includes(other.id)) - Number(stars.includes(one.id)))
    .slice(0, 8)
  return (
    <Section title={t('nav.repositories')} actions={<Link to="/r">{t('home.all')}</Link>}>
      <Shown of={all}>
        {() =>
          shown.length === 0 ? (
            <Empty title={t('repositories.none')}>
              <p className="muted">{t('repositories.how')}</p>
            </Empty>
          ) : (
            <ul className="cards">
              {shown.map((card) => (
                <RepositoryCard key={card.id} {...card} />
              ))}
            </ul>
          )
        }
      </Shown>
    </Section>
  )
}

/** What was published last in everything that one may see. */
const Newest = () => {
  const found = useAsk('searchEverywhere', { query: { order: 'desc' } })
  return (
    <Section
      title={t('home.newest')}
      actions={
        <Link to="/search" search={{ order: 'desc' }}>
          {t('home.all')}
        </Link>
      }
    >
      <Shown of={found} rows={6}>
        {({ items }) =>
          items.length === 0 ? (
            <p className="muted">{t('home.nothingNew')}</p>
          ) : (
            <ul className="newest">
              {items.slice(0, 8).map(({ repository, id, name, size, publishedAt, createdAt }) => (
                <li key={id}>
                  <Link to="/r/$repository/artifacts/$id" params={{ repository, id }}>
                    <Written text={name} />
                  </Link>
                  <Written mono muted text={repository} />
                  <Size bytes={size} />
                  <Moment at={publishedAt ?? createdAt} />
                </li>
              ))}
            </ul>
          )
        }
      </Shown>
    </Section>
  )
}

const Own = () => {
  const own = useAsk('listOwnUploads', { query: { order: 'desc', limit: 5 } })
  return (
    <Section title={t('home.transfers')} actions={<Link to="/transfers">{t('home.all')}</Link>}>
      <Shown of={own} rows={2}>
        {({ items }) =>
          items.length === 0 ? (
            <p className="muted">{t('home.quiet')}</p>
          ) : (
            <ul className="lines">
              {items.map(({ id, repository, descriptor, createdAt }) => (
                <li key={id} className="panel">
                  <div className="spread">
                    <strong>{shownAs(descriptor.name)}</strong>
                    <Size bytes={descriptor.size} />
                  </div>
                  <span className="muted small">
                    {repository} · <Moment at={createdAt} />
                  </span>
                </li>
              ))}
            </ul>
          )
        }
      </Shown>
    </Section>
  )
}

type Line = Answer<'getAttention'>['items'][number]

/** Where one does something about it, and what is said of it. */
const about = ({ code, subject, count }: Line): readonly [text: string, to: '/system' | '/system/backups' | '/me'] => {
  switch (code) {
    case 'not_writable':
      return [t('home.full'), '/system']
    case 'jobs_failed':
      return [t('home.jobs', { count: count ?? 0 }), '/system']
    case 'webhook_failing':
      return [t('home.hook', { host: subject ?? '' }), '/system']
    case 'token_ends_soon':
      return [t('home.token', { name: subject ?? '' }), '/me']
    default:
      return [said('backup', code), '/system/backups']
  }
}

/** Line by line what needs somebody who may do something about it: the session, or a key in this tab. To who looks after all of it, it says where nothing does. */
const Attention = () => {
  const { session, keys } = useHolders()
  const holders = session === null ? keys : [session, ...keys]
  const told = useAskAll('getAttention', {}, holders)
  const lines = new Map(told.flatMap(({ items }) => items.map((line) => [`${line.code} ${line.subject ?? ''}`, line])))
  if (told.length === 0 || (lines.size === 0 && !holders.some(({ administrator }) => administrator))) return null
  return (
    <Section title={t('home.attention')}>
      {lines.size === 0 ? (
        <p className="line muted">
          <Icon name="check" />
          {t('home.fine')}
        </p>
      ) : (
        <ul className="attention">
          {[...lines].map(([key, line]) => {
            const [text, to] = about(line)
            return (
              <li key={key} className={line.severity === 'critical' ? 'danger' : ''}>
                <Icon name="alert" />
                <span>
                  {text} <Link to={to}>{t('home.look')}</Link>
                </span>
              </li>
            )
          })}
        </ul>
      )}
    </Section>
  )
}
