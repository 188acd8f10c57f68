import { TextInput } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useAsk, useChange } from '../../contract/asking.ts'
import { Icon } from '../../look/icons.tsx'
import { Act } from '../../parts/act.tsx'
import { FormDialog } from '../../parts/dialog.tsx'
import { Section } from '../../parts/page.tsx'
import { Empty, Forbidden, Shown } from '../../parts/states.tsx'
import { tell, tellProblem } from '../../parts/toasts.tsx'
import { Tag } from '../../parts/values.tsx'
import { useMay } from '../../session/holders.ts'
import { said, t } from '../../words/words.ts'
import { DeleteGroup, Grant, type Group, Members } from './group-dialogs.tsx'

/** Groups, who is in them and what they are granted. */
export const Groups = () => {
  const allowed = useMay()('listAccessGroups')
  const groups = useAsk('listAccessGroups', {}, { enabled: allowed.may })
  const [creating, setCreating] = useState(false)
  const [name, setName] = useState('')
  const create = useChange('createAccessGroup', ['listAccessGroups'])
  if (!allowed.may) return <Forbidden missing={allowed} />
  return (
    <Section
      title={said('access.tab', 'groups')}
      actions={<Act by="createAccessGroup" icon="plus" label={t('access.newGroup')} run={() => setCreating(true)} />}
    >
      <Shown of={groups}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty icon="people" title={t('access.noGroups')} />
          ) : (
            <ul className="cards">
              {items.map((group) => (
                <GroupCard key={group.id} group={group} />
              ))}
            </ul>
          )
        }
      </Shown>
      <FormDialog
        title={t('access.newGroup')}
        open={creating}
        close={() => setCreating(false)}
        submit={() => create.mutate({ body: { name } }, { onSuccess: () => setCreating(false) })}
        label={t('me.create')}
        busy={create.isPending}
        error={create.error}
        ready={name !== ''}
      >
        <TextInput
          label={t('list.name')}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          data-autofocus
        />
      </FormDialog>
    </Section>
  )
}

const GroupCard = ({ group }: { readonly group: Group }) => {
  const [editing, setEditing] = useState<'members' | 'grant' | 'delete' | null>(null)
  const remove = useChange('removeAccessGroupGrant', ['listAccessGroups', 'listWhoMay'])
  const set = useChange('setAccessGroupGrant', ['listAccessGroups', 'listWhoMay'])
  return (
    <li className="card">
      <h2>{group.name}</h2>
      <div>
        <p className="small muted">{t('access.members')}</p>
        <p>{group.accounts.length === 0 ? t('access.nobody') : group.accounts.map(({ name }) => name).join(', ')}</p>
      </div>
      <div className="lines">
        <p className="small muted">{t('access.grants')}</p>
        {group.grants.length === 0 ? <p>{t('access.noGrants')}</p> : null}
        {group.grants.map(({ repository, access }) => (
          <div key={repository} className="spread">
            <Link to="/r/$repository" params={{ repository }} className="mono">
              {repository}
            </Link>
            <span className="line">
              <Tag
                tone={access === 'write' ? 'accent' : 'plain'}
                text={said('scope', access === 'write' ? 'read-write' : 'read')}
              />
              <button
                type="button"
                className="plain"
                aria-label={t('access.revoke', { repository })}
                onClick={() =>
                  remove.mutate(
                    { path: { id: group.id, repository } },
                    {
                      onError: tellProblem,
                      onSuccess: () =>
                        tell(t('access.wasRevoked', { repository }), () =>
                          set.mutateAsync({ path: { id: group.id, repository }, body: { access } }),
                        ),
                    },
                  )
                }
              >
                <Icon name="cross" />
              </button>
            </span>
          </div>
        ))}
      </div>
      <div className="actions">
        <Act
          by="addAccessGroupMember"
          size="compact-sm"
          label={t('access.members')}
          run={() => setEditing('members')}
        />
        <Act by="setAccessGroupGrant" size="compact-sm" label={t('access.grant')} run={() => setEditing('grant')} />
        <Act by="deleteAccessGroup" size="compact-sm" label={t('artifact.delete')} run={() => setEditing('delete')} />
      </div>
      {editing === 'members' ? <Members group={group} close={() => setEditing(null)} /> : null}
      {editing === 'grant' ? <Grant group={group} close={() => setEditing(null)} /> : null}
      {editing === 'delete' ? <DeleteGroup group={group} close={() => setEditing(null)} /> : null}
    </li>
  )
}
