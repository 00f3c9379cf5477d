// Approves sponsorships: one for each user in ten seconds. WEBHOOK_SECRET is what `purser webhook create` printed.
import { createServer } from 'node:http'
import { Webhook } from 'standardwebhooks'

const { WEBHOOK_SECRET, PORT = '3001' } = process.env
const webhook = new Webhook(WEBHOOK_SECRET)
const newest = new Map()

function decide({ user }) {
  if (typeof user !== 'string') return { arePoliciesVerified: false, reason: 'Sign in first.' }
  const now = Date.now()
  if (now - (newest.get(user) ?? 0) < 10_000)
    return { arePoliciesVerified: false, reason: 'One operation in ten seconds.' }
  newest.set(user, now)
  return { arePoliciesVerified: true }
}

async function answer(request) {
  let body = ''
  for await (const chunk of request) body += chunk
  // Throws unless Purser signed exactly these bytes in the last five minutes.
  const { data } = webhook.verify(body, request.headers)
  return decide(data)
}

const server = createServer(async (request, response) => {
  try {
    const decision = await answer(request)
    console.log(JSON.stringify(decision))
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(decision))
  } catch {
    response.writeHead(401).end()
  }
})
server.listen(Number(PORT), '127.0.0.1', () => {
  console.log(`Approving at http://127.0.0.1:${server.address().port}`)
})
