CREATE TABLE message (
id text PRIMARY KEY,
session_id text NOT NULL,
time_created integer NOT NULL,
time_updated integer NOT NULL,
data text NOT NULL
);
INSERT INTO message VALUES ('msg_1de995476001ebK1SWPTaQB7oU', 'ses_e2166ac21ffeo3wDF2Gh28EYYH', 1794735953014, 1794735955323, '{"role":"user","agent":"build","model":{"providerID":"svc","modelID":"fake-model"}}');
INSERT INTO message VALUES ('msg_1de995958001jwvJpktF0wnujp', 'ses_e2166ac21ffeo3wDF2Gh28EYYH', 1794735954264, 1794735955278, '{"parentID":"msg_1de995476001ebK1SWPTaQB7oU","role":"assistant","mode":"build","agent":"build","modelID":"fake-model","providerID":"svc","finish":"unknown"}');
INSERT INTO message VALUES ('msg_1de995d54001hgCh6vUZHPmfdm', 'ses_e2166ac21ffeo3wDF2Gh28EYYH', 1794735955284, 1794735955388, '{"parentID":"msg_1de995476001ebK1SWPTaQB7oU","role":"assistant","mode":"build","agent":"build","modelID":"fake-model","providerID":"svc","finish":"stop"}');
CREATE TABLE part (
id text PRIMARY KEY,
message_id text NOT NULL,
session_id text NOT NULL,
time_created integer NOT NULL,
time_updated integer NOT NULL,
data text NOT NULL
);
INSERT INTO part VALUES ('prt_1de995488001wp2A9wp7oWPaE5', 'msg_1de995476001ebK1SWPTaQB7oU', 'ses_e2166ac21ffeo3wDF2Gh28EYYH', 1794735954243, 1794735954246, '{"type":"text","text":"Say \"hi\" 3 times"}');
INSERT INTO part VALUES ('prt_1de995c6e0014gQX73E1tPOYMI', 'msg_1de995958001jwvJpktF0wnujp', 'ses_e2166ac21ffeo3wDF2Gh28EYYH', 1794735955054, 1794735955056, '{"type":"step-start"}');
INSERT INTO part VALUES ('prt_1de995c73001Rf7d3mhPQ6kwK3', 'msg_1de995958001jwvJpktF0wnujp', 'ses_e2166ac21ffeo3wDF2Gh28EYYH', 1794735955059, 1794735955253, '{"type":"tool","tool":"bash","callID":"call_1","state":{"status":"completed","input":{"command":"echo MARK_TOOLOUT","description":"x"},"output":"MARK_TOOLOUT\n"}}');
INSERT INTO part VALUES ('prt_1de995d3e001ceWu3JX4PA7XSs', 'msg_1de995958001jwvJpktF0wnujp', 'ses_e2166ac21ffeo3wDF2Gh28EYYH', 1794735955262, 1794735955264, '{"reason":"unknown","type":"step-finish"}');
INSERT INTO part VALUES ('prt_1de995da90012Z33N1iKiNE8X8', 'msg_1de995d54001hgCh6vUZHPmfdm', 'ses_e2166ac21ffeo3wDF2Gh28EYYH', 1794735955369, 1794735955370, '{"type":"step-start"}');
INSERT INTO part VALUES ('prt_1de995dac001n9EyNewyGEL5W0', 'msg_1de995d54001hgCh6vUZHPmfdm', 'ses_e2166ac21ffeo3wDF2Gh28EYYH', 1794735955372, 1794735955379, '{"type":"text","text":"hello world"}');
INSERT INTO part VALUES ('prt_1de995db6001ZgBNGmSlrkT0Ko', 'msg_1de995d54001hgCh6vUZHPmfdm', 'ses_e2166ac21ffeo3wDF2Gh28EYYH', 1794735955382, 1794735955383, '{"reason":"stop","type":"step-finish"}');
