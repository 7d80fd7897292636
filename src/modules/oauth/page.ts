/** What a member of staff sees where nobody knows who asks, or where the answer would go. It says nothing of what was sent. */
export const strangerPage = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>This app cannot be connected – Forecourt</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:36rem;margin:4rem auto;padding:0 1rem}</style></head>
<body><h1>This app cannot be connected</h1>
<p>The link that led here names an app that is not registered, or an address the app is not registered for. Nothing was shared with it.</p>
<p>Go back to the app and try again. If this page comes again, tell whoever makes the app: its <code>client_id</code> must be registered, and its
<code>redirect_uri</code> must be, letter by letter, one of those registered with it.</p></body></html>
`;
