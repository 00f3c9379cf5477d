import { useSignal } from '@preact/signals'
import { call } from '../../api/call.js'
import { useChanges } from '../../api/changes.js'
import { curl } from '../../api/curl.js'
import { useQuery } from '../../api/query.js'
import type {
  App,
  Page,
  Webhook,
  WebhookCall,
  WebhookCircuit,
  WebhookTest,
} from '../../api/shapes.js'
import { ActButton } from '../../parts/ActButton.js'
import { Age } from '../../parts/Age.js'
import { CsvButton } from '../../parts/CsvButton.js'
import { Code } from '../../parts/Code.js'
import { Fact, Facts } from '../../parts/Facts.js'
import { grouped } from '../../parts/format.js'
import { Loaded } from '../../parts/Loaded.js'
import { Panel } from '../../parts/Panel.js'
import { type Column, Table } from '../../parts/Table.js'
import { go, hrefOf } from '../../router.js'
import { bodyOfSettings, SettingFields } from './SettingFields.js'
import { WebhookActs } from './WebhookActs.js'
import type { PanelActs } from './WebhookList.js'

type ApprovalPanelProps = PanelActs & { readonly app: App; readonly webhook: Webhook }

/** One webhook: whether it is paused, a test with the bytes that were sent, its calls, and what can be changed. */
export function ApprovalPanel({ app, webhook, ...acts }: ApprovalPanelProps) {
  const path = `/apps/${app.id}/webhooks/${webhook.webhookId}`
  const callsPath = `${path}/calls`
  const circuit = useQuery<WebhookCircuit>(`${path}/circuit`)
  const calls = useQuery<Page<WebhookCall>>(callsPath, { limit: '20' })
  const test = useSignal<WebhookTest | undefined>(undefined)
  const isTesting = useSignal(false)
  useChanges(() => {
    circuit.refresh()
    calls.refresh()
  }, true)
  const tryIt = async (): Promise<void> => {
    isTesting.value = true
    try {
      test.value = await call<WebhookTest>('POST', `${path}/test`)
    } finally {
      isTesting.value = false
    }
  }
  const isOpen = circuit.data?.state === 'open'
  return (
    <Panel
      name="Webhook"
      title={
        <>
          {webhook.active ? <span class="tag good">on</span> : <span class="tag">off</span>}
          {isOpen && <span class="tag bad">paused</span>} <code>{hostOf(webhook.webhookUrl)}</code>
        </>
      }
      codes={[
        ['curl', curl(path)],
        ['Command', `purser webhook test ${webhook.webhookId} --app ${app.id}`],
      ]}
      onClose={() => go(hrefOf('webhooks', { appId: app.id }))}
    >
      {isOpen && (
        <p class="warn">
          It failed too often and is paused, for <Age at={circuit.data?.changes[0]?.at ?? ''} /> so
          far: sponsorships that need it are{' '}
          {webhook.onFailure === 'deny' ? 'refused' : 'approved without it'}. After some seconds one
          call tries it again.
        </p>
      )}
      <WebhookActs
        {...acts}
        path={path}
        active={webhook.active}
        turn={webhook.active ? 'Turn off' : 'Turn on'}
        settings={{
          button: 'Settings…',
          title: 'How it is asked',
          example: { deadlineMs: 2000 },
          fields: <SettingFields webhook={webhook} />,
          bodyOf: bodyOfSettings,
        }}
        deletion={{
          title: 'Delete this webhook',
          text: `From the next sponsorship on nobody asks ${hostOf(webhook.webhookUrl)}. Policies that need a webhook refuse where it was the last one. Turning it off keeps it.`,
          href: hrefOf('webhooks', { appId: app.id }),
        }}
      >
        <ActButton needs="developer" look="primary" onClick={tryIt}>
          {isTesting.value ? 'Calling…' : 'Test it'}
        </ActButton>
      </WebhookActs>
      {test.value !== undefined && <TestResult test={test.value} />}
      <section>
        <h3>Facts</h3>
        <Facts>
          <Fact name="URL">
            <span class="whole">{webhook.webhookUrl}</span>
          </Fact>
          <Fact name="Method, within">
            {webhook.requestType}, {grouped(webhook.deadlineMs)} ms
          </Fact>
          <Fact name="Gets">
            {webhook.payload === 'plain' ? 'the data sent along' : 'the operation too'}
          </Fact>
          <Fact name="When it fails">
            {webhook.onFailure === 'deny' ? 'refuse the sponsorship' : 'approve it'}
          </Fact>
        </Facts>
      </section>
      <section>
        <div class="card-head">
          <h3>Newest calls</h3>
          <CsvButton path={callsPath} name="webhook-calls" isPaged />
        </div>
        <Loaded query={calls} lines={3}>
          {({ items }) =>
            items.length === 0 ? (
              <p class="muted">Not called yet: a sponsorship with data for webhooks calls it.</p>
            ) : (
              <Table
                label="Calls"
                columns={callColumns}
                rows={items}
                keyOf={({ id }) => id}
                hrefOf={({ decisionId }) => hrefOf(`decisions/${decisionId}`)}
                open={({ decisionId }) => go(hrefOf(`decisions/${decisionId}`))}
              />
            )
          }
        </Loaded>
      </section>
    </Panel>
  )
}

const callColumns: readonly Column<WebhookCall>[] = [
  { name: 'Outcome', cell: ({ outcome }) => <Outcome outcome={outcome} /> },
  { name: 'Age', cell: ({ startedAt }) => <Age at={startedAt} /> },
  {
    name: 'Answer',
    cell: ({ httpStatus, reason }) => (
      <span class="cut" title={reason ?? ''}>
        {[httpStatus, reason].filter((each) => each !== null && each !== '').join(' · ') || '–'}
      </span>
    ),
  },
  {
    name: 'Took',
    shown: 'wide',
    isNumber: true,
    cell: ({ durationMs, attempts }) =>
      `${Math.round(durationMs)} ms${attempts > 1 ? `, ${attempts} attempts` : ''}`,
  },
]

function Outcome({ outcome }: { readonly outcome: string }) {
  const look = outcome === 'approved' ? 'good' : outcome === 'denied' ? 'doubt' : 'bad'
  return <span class={`tag ${look}`}>{outcome.replaceAll('_', ' ')}</span>
}

/** What a test was answered, and to the byte what was sent. */
function TestResult({ test }: { readonly test: WebhookTest }) {
  const { request } = test
  const text = [
    `${request.method} ${request.url}`,
    ...Object.entries(request.headers).map(([name, value]) => `${name}: ${value}`),
    '',
    request.body ?? '',
  ].join('\n')
  return (
    <section class="test" aria-label="The test">
      <p>
        <Outcome outcome={test.outcome} /> {test.httpStatus !== null && `HTTP ${test.httpStatus}, `}
        {Math.round(test.durationMs)} ms{test.attempts > 1 && `, ${test.attempts} attempts`}
        {test.reason !== null && <span class="muted"> {test.reason}</span>}
      </p>
      <p class="muted">
        Sent to the byte. What is signed: <code>webhook-id.webhook-timestamp.</code> and the{' '}
        {request.method === 'POST' ? 'body' : 'query'}, by HMAC-SHA-256 with the secret.
      </p>
      <Code what="the request of the test" text={text} />
    </section>
  )
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url
}
