import { TextInput } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useChange, usePages } from '../../contract/asking.ts'
import { Icon } from '../../look/icons.tsx'
import { Act } from '../../parts/act.tsx'
import { momentColumn } from '../../parts/columns.tsx'
import { FormDialog } from '../../parts/dialog.tsx'
import { Listed } from '../../parts/listed.tsx'
import { Section } from '../../parts/page.tsx'
import { Empty } from '../../parts/states.tsx'
import { Tag } from '../../parts/values.tsx'
import { useMay } from '../../session/holders.ts'
import { said, t } from '../../words/words.ts'
import { Actions, chosenActions } from '../actions.tsx'

/** Accounts of programs. */
export const Services = () => {
  const may = useMay()
  const list = usePages('listServiceAccounts', (after) => ({
    query: after === undefined ? {} : { after: String(after) },
  }))
  const [creating, setCreating] = useState(false)
  const [name, setName] = useState('')
  const [repository, setRepository] = useState('')
  const [actions, setActions] = useState<string[]>(['content.read', 'artifact.read'])
  const create = useChange('createServiceAccount', ['listServiceAccounts'])
  const allowed = may('createServiceAccount')
  return (
    <Section
      title={said('access.tab', 'services')}
      actions={<Act by="createServiceAccount" icon="plus" label={t('services.create')} run={() => setCreating(true)} />}
    >
      {allowed.may ? null : <p className="band">{t('services.key')}</p>}
      <Listed
        of={list}
        label={said('access.tab', 'services')}
        keyOf={({ id }) => id}
        columns={[
          {
            key: 'name',
            label: t('list.name'),
            width: 'minmax(120px, 2fr)',
            show: ({ id, name: called }) => (
              <Link to="/access/services/$id" params={{ id }}>
                <Icon name="key" />
                <span>{called}</span>
              </Link>
            ),
          },
          {
            key: 'bindings',
            label: t('services.where'),
            width: 'minmax(120px, 2fr)',
            show: ({ bindings }) => bindings.map(({ resource }) => resource.id).join(', '),
          },
          {
            key: 'state',
            label: t('list.state'),
            width: '110px',
            show: ({ enabled }) => (
              <Tag tone={enabled ? 'ok' : 'warn'} text={enabled ? t('access.enabled') : t('access.disabled')} />
            ),
          },
          momentColumn('createdAt', t('services.made'), { wide: 'middle' }),
        ]}
        empty={
          <Empty icon="key" title={t('services.none')}>
            <p className="muted">{t('services.how')}</p>
          </Empty>
        }
      />
      <FormDialog
        title={t('services.create')}
        open={creating}
        close={() => setCreating(false)}
        submit={() =>
          create.mutate(
            {
              body: {
                name,
                bindings: [{ resource: { kind: 'repository', id: repository }, actions: chosenActions(actions) }],
              },
            },
            { onSuccess: () => setCreating(false) },
          )
        }
        label={t('me.create')}
        busy={create.isPending}
        error={create.error}
        ready={name !== '' && repository !== '' && actions.length > 0}
      >
        <TextInput
          label={t('list.name')}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          data-autofocus
        />
        <TextInput
          label={t('list.repository')}
          value={repository}
          onChange={(event) => setRepository(event.currentTarget.value)}
        />
        <Actions value={actions} change={setActions} />
      </FormDialog>
    </Section>
  )
}
