import { Select, TextInput } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useAsk, useChange, usePages } from '../contract/asking.ts'
import { Act } from '../parts/act.tsx'
import { FormDialog } from '../parts/dialog.tsx'
import { Filter } from '../parts/filter.tsx'
import { Page } from '../parts/page.tsx'
import { RepositoryCard } from '../parts/repository-card.tsx'
import { Empty, Failed, Loading } from '../parts/states.tsx'
import { tell } from '../parts/toasts.tsx'
import { refreshSession } from '../session/holders.ts'
import { useStars } from '../session/stars.ts'
import { t } from '../words/words.ts'

/** The repositories that one may see, as cards; those of one's own choice first. */
export const Repositories = () => {
  const { filter = '' } = useSearch({ from: '/r' })
  const navigate = useNavigate({ from: '/r' })
  const stars = useStars()
  const [creating, setCreating] = useState(false)
  const all = usePages('listRepositories', (after) => ({
    query: { limit: 100, ...(after === undefined ? {} : { after: String(after) }) },
  }))
  const rows = all.data?.pages.flatMap(({ items }) => items) ?? []
  const shown = rows
    .filter(({ id }) => id.includes(filter.toLowerCase()))
    .sort((one, other) => Number(stars.includes(other.id)) - Number(stars.includes(one.id)))
  return (
    <Page
      title={t('repositories.title')}
      lead={t('repositories.lead')}
      actions={
        <Act
          by="createRepository"
          label={t('repositories.create')}
          icon="plus"
          variant="filled"
          run={() => setCreating(true)}
        />
      }
    >
      {rows.length < 2 ? null : (
        <div className="filters">
          <Filter
            label={t('repositories.filter')}
            value={filter}
            change={(text) => void navigate({ search: text === '' ? {} : { filter: text }, replace: true })}
          />
        </div>
      )}
      {all.data === undefined ? (
        all.error === null ? (
          <Loading />
        ) : (
          <Failed error={all.error} again={() => void all.refetch()} />
        )
      ) : rows.length === 0 ? (
        <Empty title={t('repositories.none')}>
          <p className="muted">{t('repositories.how')}</p>
        </Empty>
      ) : shown.length === 0 ? (
        <Empty icon="search" title={t('list.nothing')}>
          <button type="button" className="link" onClick={() => void navigate({ search: {} })}>
            {t('list.clear')}
          </button>
        </Empty>
      ) : (
        <ul className="cards">
          {shown.map((card) => (
            <RepositoryCard key={card.id} {...card} />
          ))}
        </ul>
      )}
      {all.hasNextPage ? (
        <button type="button" className="link" onClick={() => void all.fetchNextPage()}>
          {t('list.more')}
        </button>
      ) : null}
      <CreateRepository open={creating} close={() => setCreating(false)} />
    </Page>
  )
}

const CreateRepository = ({ open, close }: { readonly open: boolean; readonly close: () => void }) => {
  const [id, setId] = useState('')
  const [group, setGroup] = useState<string | null>(null)
  const navigate = useNavigate()
  const groups = useAsk('listAccessGroups', {}, { enabled: open })
  const create = useChange('createRepository', ['listRepositories', 'listAllRepositories'])
  const grant = useChange('setAccessGroupGrant', ['listAccessGroups', 'listRepositories'])
  const submit = async (): Promise<void> => {
    await create.mutateAsync({ body: { id } })
    if (group !== null) await grant.mutateAsync({ path: { id: group, repository: id }, body: { access: 'write' } })
    await refreshSession()
    close()
    tell(t('repositories.created', { name: id }))
    await (group === null
      ? navigate({ to: '/access', search: { tab: 'groups' } })
      : navigate({ to: '/r/$repository', params: { repository: id } }))
  }
  const members = groups.data?.items.find((each) => each.id === group)?.accounts ?? []
  return (
    <FormDialog
      title={t('repositories.create')}
      open={open}
      close={close}
      submit={() => void submit().catch(() => {})}
      label={t('repositories.create')}
      busy={create.isPending || grant.isPending}
      error={create.error ?? grant.error}
      ready={id !== ''}
    >
      <TextInput
        label={t('repositories.name')}
        description={t('repositories.grammar')}
        value={id}
        onChange={(event) => setId(event.currentTarget.value)}
        autoComplete="off"
        data-autofocus
      />
      <Select
        label={t('repositories.who')}
        data={(groups.data?.items ?? []).map((each) => ({ value: each.id, label: each.name }))}
        value={group}
        onChange={setGroup}
        clearable
        searchable
      />
      <p className="muted small">
        {group === null
          ? t('repositories.then')
          : t('access.willWrite', {
              names: members.map(({ name }) => name).join(', ') || t('access.nobody'),
              repository: id === '' ? '…' : id,
            })}
      </p>
    </FormDialog>
  )
}
