import { TextInput } from '@mantine/core'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useAsk, usePages } from '../contract/asking.ts'
import { Icon } from '../look/icons.tsx'
import { Page, Section } from '../parts/page.tsx'
import { RepositoryCard } from '../parts/repository-card.tsx'
import { Empty, Shown } from '../parts/states.tsx'
import { Moment, Size, shownAs, Written } from '../parts/values.tsx'
import { useHolders, useMay } from '../session/holders.ts'
import { useStars } from '../session/stars.ts'
import { said, t } from '../words/words.ts'

/** What one comes for: to find something, to go on with something, and what needs a person. */
export const Home = () => {
  const { session } = useHolders()
  const may = useMay()
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
      {may('getOverview').may || may('getBackupStatus').may ? <Attention /> : null}
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

const endsSoonMs = 14 * 24 * 3_600_000

/** Line by line what needs somebody who may do something about it. Where nothing does it says so. */
const Attention = () => {
  const may = useMay()
  const backups = useAsk('getBackupStatus', {}, { enabled: may('getBackupStatus').may })
  const overview = useAsk('getOverview', {}, { enabled: may('getOverview').may })
  const hooks = useAsk('listWebhooks', {}, { enabled: may('listWebhooks').may })
  const tokens = useAsk('listTokens', {}, { enabled: may('listTokens').may })
  const lines: {
    readonly key: string
    readonly text: string
    readonly danger: boolean
    readonly to: '/system' | '/system/backups' | '/me'
  }[] = []
  for (const { code, severity } of backups.data?.warnings ?? [])
    lines.push({ key: code, text: said('backup', code), danger: severity === 'critical', to: '/system/backups' })
  if (overview.data?.writable === false) lines.push({ key: 'full', text: t('home.full'), danger: true, to: '/system' })
  if ((overview.data?.jobs.failedWithinADay ?? 0) > 0)
    lines.push({
      key: 'jobs',
      text: t('home.jobs', { count: overview.data?.jobs.failedWithinADay ?? 0 }),
      danger: false,
      to: '/system',
    })
  for (const { id, host, failingSince } of hooks.data?.items ?? [])
    if (failingSince !== null) lines.push({ key: id, text: t('home.hook', { host }), danger: false, to: '/system' })
  for (const { id, name, expiresAt, revoked } of tokens.data?.items ?? [])
    if (
      !revoked &&
      expiresAt !== null &&
      Date.parse(expiresAt) - Date.now() < endsSoonMs &&
      Date.parse(expiresAt) > Date.now()
    )
      lines.push({ key: id, text: t('home.token', { name }), danger: false, to: '/me' })
  return (
    <Section title={t('home.attention')}>
      {lines.length === 0 ? (
        <p className="line muted">
          <Icon name="check" />
          {t('home.fine')}
        </p>
      ) : (
        <ul className="attention">
          {lines.map(({ key, text, danger, to }) => (
            <li key={key} className={danger ? 'danger' : ''}>
              <Icon name="alert" />
              <span>
                {text} <Link to={to}>{t('home.look')}</Link>
              </span>
            </li>
          ))}
        </ul>
      )}
    </Section>
  )
}
