import { curl } from '../../api/curl.js'
import { useQuery } from '../../api/query.js'
import type { Page, Webhook } from '../../api/shapes.js'
import { Empty } from '../../parts/Empty.js'
import { Field } from '../../parts/Field.js'
import type { Column } from '../../parts/Table.js'
import { hrefOf } from '../../router.js'
import { ApprovalPanel } from './ApprovalPanel.js'
import { bodyOfSettings, SettingFields } from './SettingFields.js'
import { UrlField } from './UrlField.js'
import { type ListProps, WebhookList } from './WebhookList.js'

const columns: readonly Column<Webhook>[] = [
  {
    name: 'URL',
    cell: ({ webhookUrl }) => (
      <span class="cut" title={webhookUrl}>
        {webhookUrl}
      </span>
    ),
  },
  {
    name: 'State',
    cell: ({ active }) =>
      active ? <span class="tag good">on</span> : <span class="tag">off</span>,
  },
  { name: 'Method', shown: 'wide', cell: ({ requestType }) => requestType },
  {
    name: 'When it fails',
    cell: ({ onFailure }) => (onFailure === 'deny' ? 'refuses' : 'approves'),
  },
  { name: 'Within', shown: 'wide', isNumber: true, cell: ({ deadlineMs }) => `${deadlineMs} ms` },
]

/** The webhooks that approve sponsorships of an app, and the open one. */
export function Approvals({ app, openId, head }: ListProps) {
  const path = `/apps/${app.id}/webhooks`
  const webhooks = useQuery<Page<Webhook>>(path)
  return (
    <WebhookList
      path={path}
      query={webhooks}
      label="Approval webhooks"
      command={`purser webhook list --app ${app.id}`}
      columns={columns}
      openId={openId}
      head={head}
      all="webhooks"
      keyOf={({ webhookId }) => webhookId}
      hrefOf={({ webhookId }) => hrefOf(`webhooks/${app.id}/${webhookId}`)}
      panelOf={(webhook, acts) => (
        <ApprovalPanel key={webhook.webhookId} app={app} webhook={webhook} {...acts} />
      )}
      empty={
        <Empty title="No approval webhook">
          <p>
            Before it sponsors, Purser asks your server: does this user have a subscription, has the
            cart been paid? It answers 2xx with <code>{'{"arePoliciesVerified": true}'}</code>, or
            the sponsorship is refused.
          </p>
        </Empty>
      }
      making={{
        button: 'New webhook',
        title: 'New approval webhook',
        act: 'Register it',
        codes: [
          ['curl', curl(path, 'POST', { webhookUrl: 'https://…', requestType: 'POST' })],
          ['command', `purser webhook create --app ${app.id} --url https://…`],
        ],
        bodyOf: (form) => ({
          ...bodyOfSettings(form),
          webhookUrl: String(form.get('url')),
          requestType: String(form.get('method')),
        }),
        madeOf: ({ webhook }) => webhook as Webhook,
        fields: (
          <>
            <UrlField placeholder="https://api.shop.example/approve" />
            <Field label="Method">
              <select name="method">
                <option>POST</option>
                <option>GET</option>
              </select>
            </Field>
            <SettingFields webhook={undefined} />
          </>
        ),
      }}
    />
  )
}
