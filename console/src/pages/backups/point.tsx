import { Select } from '@mantine/core'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useAsk, useChange, usePages } from '../../contract/asking.ts'
import type { Answer } from '../../contract/call.ts'
import { Act } from '../../parts/act.tsx'
import { Commands } from '../../parts/copy.tsx'
import { FormDialog } from '../../parts/dialog.tsx'
import { ExactFilter } from '../../parts/exact-filter.tsx'
import { Listed } from '../../parts/listed.tsx'
import { Facts, Page, Section } from '../../parts/page.tsx'
import { Empty, Forbidden, Shown } from '../../parts/states.tsx'
import { tell } from '../../parts/toasts.tsx'
import { ByteMark, Moment, Size, Tag, Written } from '../../parts/values.tsx'
import { useMay } from '../../session/holders.ts'
import { exactTime } from '../../values/format.ts'
import { shellWord } from '../../values/shell.ts'
import { said, t } from '../../words/words.ts'
import { PointState } from './state.tsx'

const kinds = ['path', 'artifact', 'image-tag', 'image', 'npm-version', 'lfs-object'] as const

/** A point: what was then, a file of the past by its name, and the end of it. */
export const Point = () => {
  const { id } = useParams({ from: '/system/backups/$id' })
  const allowed = useMay()('getBackupPoint')
  const read = useAsk('getBackupPoint', { path: { id } }, { enabled: allowed.may })
  if (!allowed.may)
    return (
      <Page title={t('nav.backups')}>
        <Forbidden missing={allowed} />
      </Page>
    )
  return (
    <Page
      title={read.data === undefined ? t('backups.point') : exactTime(read.data.snapshotAt)}
      lead={<Link to="/system/backups">{t('nav.backups')}</Link>}
      actions={read.data === undefined ? undefined : <DeletePoint point={read.data} />}
    >
      <Shown of={read} rows={3}>
        {(point) => (
          <div className="panel">
            <PointState point={point} />
            {point.verifyError === null ? null : <p className="band danger">{point.verifyError}</p>}
            <Facts
              facts={[
                [t('backups.completed'), <Moment key="c" at={point.completedAt} />],
                [t('backups.content'), <Size key="s" bytes={point.contentBytes} />],
                [t('backups.new'), <Size key="n" bytes={point.newBytes} />],
                [t('backups.program'), point.program ?? '–'],
                [
                  t('value.id'),
                  <code key="i" className="small">
                    {point.id}
                  </code>,
                ],
              ]}
            />
          </div>
        )}
      </Shown>
      <Contents id={id} repositories={(read.data?.repositories ?? []).map(({ repository }) => repository)} />
    </Page>
  )
}

/** What it holds, by name: a page may have nothing of what is looked for though others follow. */
const Contents = ({ id, repositories }: { readonly id: string; readonly repositories: readonly string[] }) => {
  const { name = '', repository = '', kind: given } = useSearch({ from: '/system/backups/$id' })
  const navigate = useNavigate({ from: '/system/backups/$id' })
  const kind = kinds.find((each) => each === given)
  const set = (field: string) => (text: string | null) =>
    void navigate({ search: (before) => ({ ...before, [field]: text ?? '' }), replace: true })
  const list = usePages('listBackupPointContents', (after) => ({
    path: { id },
    query: {
      limit: 100,
      ...(name === '' ? {} : { name }),
      ...(repository === '' ? {} : { repository }),
      ...(kind === undefined ? {} : { kind }),
      ...(after === undefined ? {} : { after: String(after) }),
    },
  }))
  return (
    <Section title={t('backups.contents')}>
      <p className="muted">{t('backups.find')}</p>
      <div className="filters">
        <ExactFilter label={t('list.name')} hint={t('attach.find')} value={name} change={set('name')} />
        <Select
          label={t('list.repository')}
          data={[...repositories]}
          value={repository === '' ? null : repository}
          onChange={set('repository')}
          clearable
          searchable
        />
        <Select
          label={t('backups.kind')}
          data={kinds.map((value) => ({ value, label: said('backups.of', value) }))}
          value={kind ?? null}
          onChange={set('kind')}
          clearable
        />
      </div>
      <Listed
        of={list}
        label={t('backups.contents')}
        keyOf={(row) => `${row.kind} ${row.repository} ${row.name} ${row.id ?? ''}`}
        columns={[
          {
            key: 'name',
            label: t('list.name'),
            width: 'minmax(140px, 3fr)',
            show: (row) => (
              <span className="name">
                <Tag text={said('backups.of', row.kind)} />
                <Written mono text={row.name} />
              </span>
            ),
          },
          {
            key: 'repository',
            label: t('list.repository'),
            width: 'minmax(80px, 1fr)',
            wide: true,
            show: (row) => row.repository,
          },
          {
            key: 'digest',
            label: t('value.digest'),
            width: '150px',
            wide: true,
            show: ({ sha256 }) =>
              sha256 === null ? null : (
                <span className="name">
                  <ByteMark sha256={sha256} />
                  <code>{sha256.slice(0, 12)}</code>
                </span>
              ),
          },
          {
            key: 'size',
            label: t('list.size'),
            width: '88px',
            end: true,
            show: ({ bytes }) => (bytes === null ? null : <Size bytes={bytes} />),
          },
        ]}
        empty={<Empty icon="search" title={t('list.nothing')} />}
      />
      <Commands text={`svc restore ${shellWord(id)}`} what={t('backups.restore')} />
    </Section>
  )
}

/** Gives a point up. A pinned one stays; the last that was verified says so before it goes. */
const DeletePoint = ({ point }: { readonly point: Answer<'getBackupPoint'> }) => {
  const [open, setOpen] = useState(false)
  const navigate = useNavigate()
  const remove = useChange('deleteBackupPoint', ['listBackupPoints', 'getBackupStatus', 'listBackupJobs'])
  const points = useAsk('listBackupPoints', { query: { limit: 100 } }, { enabled: open })
  const verified = (points.data?.items ?? []).filter((each) => each.verifiedAt !== null && each.verifyError === null)
  const last = verified.length === 1 && verified[0]?.id === point.id
  return (
    <>
      <Act
        by="deleteBackupPoint"
        icon="trash"
        label={t('backups.delete')}
        {...(point.pinned ? { unless: t('backups.isPinned') } : {})}
        run={() => setOpen(true)}
      />
      <FormDialog
        title={t('backups.delete')}
        open={open}
        close={() => setOpen(false)}
        submit={() =>
          remove.mutate(
            { path: { id: point.id }, body: { confirm: point.snapshotAt } },
            {
              onSuccess: () => {
                tell(t('backups.deleted'))
                void navigate({ to: '/system/backups' })
              },
            },
          )
        }
        label={t('backups.delete')}
        busy={remove.isPending}
        error={remove.error}
        named={point.snapshotAt}
        danger
      >
        {last ? <p className="band danger">{t('backups.last')}</p> : null}
        <p>{t('backups.deleting')}</p>
      </FormDialog>
    </>
  )
}
